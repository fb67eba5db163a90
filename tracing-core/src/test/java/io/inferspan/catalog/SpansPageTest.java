package io.inferspan.catalog;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class SpansPageTest {

  private static final Path PAGE = Path.of("SPANS.md");

  @Test
  void page_isCurrent() throws IOException {
    String expected = SpansPage.write();
    if (Boolean.getBoolean("spans.write")) {
      Files.writeString(PAGE, expected);
    }

    assertThat(Files.readString(PAGE)).isEqualTo(expected);
  }
}
