package io.inferspan.ebpf.libbpf.feature;

import static io.inferspan.ebpf.libbpf.feature.KernelFeature.PERF_UPROBES;
import static io.inferspan.ebpf.libbpf.feature.KernelFeature.UPROBE_MULTI;
import static io.inferspan.ebpf.libbpf.feature.KernelFeature.UPROBE_SESSION;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class KernelFeaturesTest {

  private static final int EACCES = 13;

  @Test
  void refusedUprobes_areReportedWithErrorAndRemedy() {
    KernelFeatures refused =
        new KernelFeatures(
            Map.of(UPROBE_SESSION, EACCES, UPROBE_MULTI, EACCES, PERF_UPROBES, EACCES));

    assertThat(refused.uprobeProblem())
        .isEqualTo(
            "uprobes are not available, EACCES (permission denied): run with CAP_SYS_ADMIN, or on"
                + " Linux 6.6 or newer");
    assertThat(new KernelFeatures(Map.of(PERF_UPROBES, EACCES)).uprobeProblem()).isEmpty();
  }
}
