package io.inferspan.pd.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class SettingsPageTest {

  private static final Path PAGE = Path.of("SETTINGS.md");

  @Test
  void page_isCurrent() throws IOException {
    String expected = SettingsPage.write();
    if (Boolean.getBoolean("settings.write")) {
      Files.writeString(PAGE, expected);
    }

    assertThat(Files.readString(PAGE)).isEqualTo(expected);
  }
}
