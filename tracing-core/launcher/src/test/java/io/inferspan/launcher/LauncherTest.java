package io.inferspan.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LauncherTest {

  @Test
  void olderJava_isRejectedInOneSentence() {
    assertThat(Launcher.refusal(17, "/opt/jdk-17"))
        .isEqualTo(
            "This program needs Java 25 or newer, but runs on Java 17 in /opt/jdk-17; install a"
                + " newer Java and run the jar with its bin/java.");
    assertThat(Launcher.refusal(25, "/opt/jdk-25")).isNull();
    assertThat(Launcher.refusal(26, "/opt/jdk-26")).isNull();
  }

  @Test
  void program_isNamedByTheManifest(@TempDir Path folder) throws IOException {
    Path jar = folder.resolve("program.jar");
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest.getMainAttributes().putValue("Program-Class", "com.example.Main");
    try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar), manifest)) {
      out.finish();
    }

    assertThat(Launcher.program(jar.toString())).isEqualTo("com.example.Main");
  }
}
