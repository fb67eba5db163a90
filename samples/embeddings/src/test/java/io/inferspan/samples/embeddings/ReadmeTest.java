package io.inferspan.samples.embeddings;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Checks that the root README shows the source of a gateway that {@link ProgramsIT} runs. */
class ReadmeTest {

  private static final Path ROOT = Path.of("..", "..");
  private static final Path GATEWAY =
      Path.of("src/main/java/io/inferspan/samples/embeddings/VertxProxyGateway.java");

  @Test
  void gatewayInTheReadme_isATestedProgram() throws IOException {
    List<String> blocks = matches("```java\n(.*?)```", read(ROOT.resolve("README.md")));

    assertThat(blocks).hasSize(1);
    for (String paragraph : blocks.getFirst().split("\n\n", -1)) {
      assertThat(withoutIndent(read(GATEWAY))).contains(withoutIndent(paragraph).strip());
    }
  }

  @Test
  void artifactInTheReadme_exists() throws IOException {
    String artifact =
        matches("`io\\.inferspan:(.+?:.+?)`", read(ROOT.resolve("README.md"))).getFirst();
    String pom = read(ROOT.resolve("gateway-plugins/pom.xml"));

    assertThat(artifact)
        .isEqualTo(
            matches("(?s)</parent>.*?<artifactId>(.+?)<", pom).getFirst()
                + ":"
                + matches("<version>(.+?)<", pom).getFirst());
  }

  @Test
  void readme_isShort() throws IOException {
    assertThat(read(ROOT.resolve("README.md")).lines().count()).isLessThanOrEqualTo(100);
  }

  private static List<String> matches(String pattern, String text) {
    return Pattern.compile(pattern, Pattern.DOTALL)
        .matcher(text)
        .results()
        .map((MatchResult match) -> match.group(1))
        .toList();
  }

  private static String withoutIndent(String text) {
    return text.lines().map(String::strip).collect(Collectors.joining("\n"));
  }

  private static String read(Path file) throws IOException {
    return Files.readString(file);
  }
}
