package io.inferspan.ebpf;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

/** A gateway with the jar on its path that was told to do without. */
class SwitchTest {

  @Test
  void bridgeThatIsOff_leavesOpenTelemetrysContextAlone() {
    assertThat(storage("off")).startsWith("storage: io.opentelemetry.");
  }

  @Test
  void bridgeThatIsNot_followsIt() {
    assertThat(storage("auto")).startsWith("storage: io.inferspan.");
  }

  private static String storage(String setting) {
    Map<String, String> environment =
        Map.of("OTEL_TRACES_EXPORTER", "none", "INFERSPAN_EBPF", setting);
    try (JavaChild child =
        JavaChild.start(BridgeProcess.class, environment, "once", "storage")) {
      assertThat(child.line()).isEqualTo("attached");
      return child.line();
    }
  }
}
