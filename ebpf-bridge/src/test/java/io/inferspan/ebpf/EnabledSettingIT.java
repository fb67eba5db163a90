package io.inferspan.ebpf;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.libbpf.TestObjects;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The setting {@code INFERSPAN_EBPF}, in a process with the jar on its class path. */
class EnabledSettingIT {

  @Test
  void off_keepsTheContextStorageOfOpenTelemetry() {
    assertThat(storage("off")).startsWith("storage: io.opentelemetry.");
  }

  @Test
  void auto_replacesTheContextStorageOfOpenTelemetry() {
    assertThat(storage("auto")).startsWith("storage: io.inferspan.");
  }

  @Test
  void auto_registersTheMetersOfTheBridge() {
    TestObjects.assumeBpf();

    assertThat(output("auto", "meters")).matches("attached: [1-9][0-9]*");
    assertThat(output("off", "meters")).isEqualTo("attached: 0");
  }

  private static String storage(String setting) {
    return output(setting, "storage");
  }

  private static String output(String setting, String word) {
    Map<String, String> environment =
        Map.of("OTEL_TRACES_EXPORTER", "none", "INFERSPAN_EBPF", setting);
    try (JavaChild child = JavaChild.start(BridgeProcess.class, environment, "once", word)) {
      assertThat(child.line()).isEqualTo("attached");
      return child.line();
    }
  }
}
