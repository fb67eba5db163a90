package io.inferspan.ebpf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Parsing of the settings, and the errors for invalid ones. */
class BridgeConfigTest {

  @Test
  void nothingSet_defaultsApply() {
    BridgeConfig config = BridgeConfig.from(name -> null);

    assertThat(config.scope()).isEqualTo(BridgeScope.all());
    assertThat(config.families()).containsExactlyInAnyOrder(EventFamily.values());
    assertThat(config.watchesOwnThreads()).isTrue();
    assertThat(config.allowsPaths()).isFalse();
    assertThat(config.measuresPrograms()).isFalse();
    assertThat(config.budget()).isNull();
    assertThat(config.wholeProcess()).isFalse();
    assertThat(config.singleFromNanos()).isEqualTo(1_000_000);
    assertThat(config.ignoreBelowNanos()).isZero();
    assertThat(config.sleepAfterNanos()).isEqualTo(60_000_000_000L);
    assertThat(config.ringBytes()).isEqualTo(16 << 20);
    assertThat(config.sharedContexts()).isEmpty();
    assertThat(config.bpfFilesystem()).isEqualTo(Path.of("/sys/fs/bpf"));
    assertThat(config.clockReference()).isNull();
  }

  @Test
  void everySetting_isRead() {
    Map<String, String> settings = new HashMap<>();
    settings.put("inferspan.ebpf.measure-programs", "true");
    settings.put("inferspan.ebpf.clock-reference", "[fd00::1]:9464");
    settings.putAll(
        Map.of(
            "inferspan.ebpf.scope", "pid:17, command:vllm,cgroup:/sys/fs/cgroup/serving",
            "inferspan.ebpf.events", "cuda, nccl",
            "inferspan.ebpf.sleep-after", "600s",
            "inferspan.ebpf.paths", "true",
            "inferspan.ebpf.single-from", "50us",
            "inferspan.ebpf.ignore-below", "2us",
            "inferspan.ebpf.ring-bytes", "65536",
            "inferspan.ebpf.shared-contexts", "read, publish",
            "inferspan.ebpf.bpf-filesystem", "/run/bpf"));

    BridgeConfig config = BridgeConfig.from(settings::get);

    assertThat(config.scope())
        .isEqualTo(new BridgeScope(false, Set.of(17), Set.of("vllm"), "/sys/fs/cgroup/serving"));
    assertThat(config.families()).containsExactlyInAnyOrder(EventFamily.CUDA, EventFamily.NCCL);
    assertThat(config.allowsPaths()).isTrue();
    assertThat(config.measuresPrograms()).isTrue();
    assertThat(config.singleFromNanos()).isEqualTo(50_000);
    assertThat(config.ignoreBelowNanos()).isEqualTo(2_000);
    assertThat(config.sleepAfterNanos()).isEqualTo(600_000_000_000L);
    assertThat(config.ringBytes()).isEqualTo(65_536);
    assertThat(config.sharedContexts()).containsExactly(ContextSharing.values());
    assertThat(config.bpfFilesystem()).isEqualTo(Path.of("/run/bpf"));
    assertThat(config.clockReference()).hasHost("[fd00::1]").hasPort(9464);
  }

  @Test
  void cgroupOnly_selectsAllItsProcesses() {
    BridgeScope scope = BridgeScope.parse("cgroup:/sys/fs/cgroup/serving");

    assertThat(scope.everything()).isTrue();
    assertThat(scope.cgroup()).isEqualTo("/sys/fs/cgroup/serving");
  }

  @Test
  void own_isThisProcessOnly() {
    assertThat(BridgeScope.parse("own")).isEqualTo(BridgeScope.own());
  }

  @ParameterizedTest
  @CsvSource({
    "1%, 1, CORE",
    "0.5%, 0.5, CORE",
    "2.5%node, 2.5, NODE",
    "20000/s, 20000, EVENTS",
    "1.5MB/s, 1500000, BYTES",
    "500kB/s, 500000, BYTES"
  })
  void budget_isParsedAsShareOrRate(String text, double amount, TracingBudget.Unit unit) {
    BridgeConfig config =
        BridgeConfig.from(name -> name.equals("inferspan.ebpf.budget") ? text : null);

    assertThat(config.budget()).isEqualTo(new TracingBudget(amount, unit));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          scope        | some         | INFERSPAN_EBPF_SCOPE: 'some' must be everything, own, or a list
          scope        | pid:0        | INFERSPAN_EBPF_SCOPE: '0' is not a pid
          scope        | pid:1,user:x | INFERSPAN_EBPF_SCOPE: 'user:x' must be everything, own, or
          events       | cuda,gpu     | INFERSPAN_EBPF_EVENTS: 'gpu' is not one of cuda, nccl, syscalls
          paths        | yes          | INFERSPAN_EBPF_PATHS: 'yes' is neither true nor false
          single-from  | 5            | INFERSPAN_EBPF_SINGLE_FROM: '5' is not a time such as
          ignore-below | 90s          | INFERSPAN_EBPF_IGNORE_BELOW: ignoreBelow is PT1M30S, but
          sleep-after  | 2d           | INFERSPAN_EBPF_SLEEP_AFTER: '2d' is not a time such as
          sleep-after  | 90000s       | INFERSPAN_EBPF_SLEEP_AFTER: sleepAfter is PT25H, but
          budget       | 1 %          | INFERSPAN_EBPF_BUDGET: '1 %' is neither a share such as 1%
          budget       | 0%           | INFERSPAN_EBPF_BUDGET: the budget is 0.0%, but must be above 0
          budget       | 101%node     | INFERSPAN_EBPF_BUDGET: the budget is 101.0%node, but must be above 0 and at most 100%node
          ring-bytes   | 1000000      | INFERSPAN_EBPF_RING_BYTES: ringBytes is 1000000, but
          ring-bytes   | 1k           | INFERSPAN_EBPF_RING_BYTES: '1k' is not a number of bytes
          shared-contexts | write     | INFERSPAN_EBPF_SHARED_CONTEXTS: 'write' is not one of off, read
          bpf-filesystem  | bpf       | INFERSPAN_EBPF_BPF_FILESYSTEM: 'bpf' is not an absolute path
          clock-reference | node      | INFERSPAN_EBPF_CLOCK_REFERENCE: 'node' is not host:port
          """)
  void invalidSetting_isReportedInOneSentence(String name, String value, String sentence) {
    Map<String, String> settings = Map.of("inferspan.ebpf." + name, value);

    assertThatThrownBy(() -> BridgeConfig.from(settings::get))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(sentence)
        .hasMessageNotContaining("\n");
  }

  @Test
  void builderChangesLater_configurationStaysTheSame() {
    BridgeConfig.Builder builder = BridgeConfig.builder();
    BridgeConfig config = builder.build();
    builder.singleFrom(Duration.ofSeconds(1)).families(Set.of(EventFamily.TCP));

    assertThat(config.singleFromNanos()).isEqualTo(1_000_000);
    assertThat(config.families()).hasSize(EventFamily.values().length);
  }
}
