package io.inferspan.samples.gateway.config;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SettingTest {

  @Test
  void help_namesEverySetting() {
    for (Setting setting : Setting.values()) {
      assertThat(GatewayConfig.help()).contains(setting.flag() + " ");
    }
  }
}
