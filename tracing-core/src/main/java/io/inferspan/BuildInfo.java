package io.inferspan;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;

/** The version and commit of this jar; {@code unknown} if it was not built from a Git checkout. */
final class BuildInfo {

  static final String VERSION;
  static final String COMMIT;

  static {
    Properties properties = new Properties();
    try (InputStream in = BuildInfo.class.getResourceAsStream("build.properties")) {
      if (in != null) {
        properties.load(in);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    VERSION = properties.getProperty("version", "unknown");
    COMMIT = properties.getProperty("commit", "unknown");
  }

  private BuildInfo() {}
}
