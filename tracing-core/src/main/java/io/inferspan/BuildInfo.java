package io.inferspan;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;

/**
 * What this jar was built from.
 *
 * @param version the release
 * @param commit the commit, or {@code unknown} where the sources came without their history
 */
record BuildInfo(String version, String commit) {

  private static final BuildInfo CURRENT = read();

  static BuildInfo current() {
    return CURRENT;
  }

  private static BuildInfo read() {
    Properties properties = new Properties();
    try (InputStream in = BuildInfo.class.getResourceAsStream("build.properties")) {
      if (in != null) {
        properties.load(in);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new BuildInfo(
        properties.getProperty("version", "unknown"), properties.getProperty("commit", "unknown"));
  }
}
