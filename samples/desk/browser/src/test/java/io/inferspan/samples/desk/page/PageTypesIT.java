package io.inferspan.samples.desk.page;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Checks the types of the JavaScript of the desk and of flame graphs with TypeScript. */
class PageTypesIT {

  private static final Path COMPILER = Path.of("target/typescript/tsc.js");

  @Test
  void javascript_hasNoTypeErrors() throws Exception {
    assumeTrue(onPath("node"), "needs node: apt-get install nodejs");

    Process check =
        new ProcessBuilder(List.of("node", COMPILER.toString(), "-p", "../jsconfig.json"))
            .redirectErrorStream(true)
            .start();
    String output = new String(check.getInputStream().readAllBytes(), StandardCharsets.UTF_8);

    assertThat(check.waitFor()).as(output).isZero();
  }

  private static boolean onPath(String program) {
    return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator, -1))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
  }
}
