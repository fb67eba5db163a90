package io.inferspan.ebpf;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.libbpf.TestObjects;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A gateway that has the jar on its class path and the bridge disabled. */
class SwitchIT {

  @Test
  void bridgeThatIsOff_leavesOpenTelemetrysContextAlone() {
    assertThat(storage("off")).startsWith("storage: io.opentelemetry.");
  }

  @Test
  void bridgeThatIsOn_replacesOpenTelemetrysContext() {
    assertThat(storage("auto")).startsWith("storage: io.inferspan.");
  }

  @Test
  void bridgeThatJoined_hasItsMetersAmongThoseOfTheTelemetry() {
    TestObjects.assumeBpf();

    assertThat(said("auto", "meters")).matches("attached: [1-9][0-9]*");
    assertThat(said("off", "meters")).isEqualTo("attached: 0");
  }

  private static String storage(String setting) {
    return said(setting, "storage");
  }

  private static String said(String setting, String word) {
    Map<String, String> environment =
        Map.of("OTEL_TRACES_EXPORTER", "none", "INFERSPAN_EBPF", setting);
    try (JavaChild child = JavaChild.start(BridgeProcess.class, environment, "once", word)) {
      assertThat(child.line()).isEqualTo("attached");
      return child.line();
    }
  }
}
