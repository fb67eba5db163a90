package io.inferspan.ebpf.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;

/** Settings as Helm charts and scripts write them. */
class AgentSettingsTest {

  @Test
  void emptyVariable_isIgnored() {
    AgentSettings settings =
        settings(
            Map.of(
                "INFERSPAN_EBPF_SCOPE", "",
                "INFERSPAN_EBPF_SLEEP_AFTER", " ",
                "OTEL_TRACES_EXPORTER", " ",
                "OTEL_BSP_MAX_QUEUE_SIZE", ""));

    assertThat(settings.scope()).isEqualTo("every process that receives a traceparent");
    assertThat(settings.destination()).isEqualTo("http://localhost:4317");
    assertThat(settings.queuedSpans()).isEqualTo("16384");
    assertThat(settings.bridge()).isNotNull();
  }

  @Test
  void blanksAroundAValue_areRemoved() {
    AgentSettings settings =
        settings(Map.of("INFERSPAN_EBPF_SCOPE", " pid:1 ", "OTEL_TRACES_EXPORTER", "console\n"));

    assertThat(settings.scope()).isEqualTo("pid:1");
    assertThat(settings.destination()).isEqualTo("console");
  }

  @Test
  void commandLine_overridesSettings() {
    Map<String, String> environment = Map.of("INFERSPAN_EBPF_SCOPE", "own");

    AgentSettings settings = new AgentSettings("pid:1,command:vllm", true, environment);

    assertThat(settings.scope()).isEqualTo("pid:1, command:vllm");
    assertThat(settings.bridge().scope().pids()).containsExactly(1);
    assertThat(settings.bridge().measuresPrograms()).isTrue();
  }

  @Test
  void wrongValue_isRefused() {
    AgentSettings settings = settings(Map.of("INFERSPAN_EBPF_SCOPE", "all"));

    assertThatThrownBy(settings::bridge)
        .hasMessageContaining("INFERSPAN_EBPF_SCOPE: 'all' must be everything, own, or a list");
  }

  @Test
  void resource_hasTheHostsNameUnlessItIsSet() {
    assertThat(settings(Map.of()).resource()).matches("host\\.name=[^,]+");
    assertThat(settings(Map.of("OTEL_RESOURCE_ATTRIBUTES", "a=b")).resource())
        .matches("host\\.name=[^,]+,a=b");
    assertThat(settings(Map.of("OTEL_RESOURCE_ATTRIBUTES", "a=b,host.name=n")).resource())
        .isEqualTo("a=b,host.name=n");
  }

  private static AgentSettings settings(Map<String, String> environment) {
    return new AgentSettings("", false, environment);
  }
}
