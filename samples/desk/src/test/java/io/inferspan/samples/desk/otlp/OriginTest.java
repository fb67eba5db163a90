package io.inferspan.samples.desk.otlp;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class OriginTest {

  @Test
  void instance_isShownUnlessItIsARandomId() {
    assertThat(new Origin("proxy", "pd-sidecar-1", "").readable())
        .isEqualTo("proxy (pd-sidecar-1)");
    assertThat(new Origin("proxy", "", "").readable()).isEqualTo("proxy");
    assertThat(new Origin("proxy", "0b2b4e1f-0f3c-4d8e-9f53-6f2f8f0e7a11", "").readable())
        .isEqualTo("proxy");
  }
}
