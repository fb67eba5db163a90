package io.inferspan.ebpf;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.Telemetry;
import io.inferspan.ebpf.libbpf.KernelObjects;
import io.inferspan.ebpf.libbpf.TestObjects;
import io.inferspan.ebpf.linux.OpenFiles;
import io.inferspan.testing.TracingExtension;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A bridge whose last part fails to start after all others have started. */
class FailedStartIT {

  private static final String OUT_OF_THREADS = "unable to create native thread";

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  @Test
  void failedStart_isReportedAndLeavesNothingBehind() throws IOException {
    TestObjects.assumeBpf();
    assertFails(failing());
    KernelObjects before = KernelObjects.of(ProcessHandle.current().pid());
    int files = OpenFiles.count();

    EbpfBridge failed = failing();

    assertFails(failed);
    assertThat(OpenFiles.count()).isLessThanOrEqualTo(files);
    assertThat(threads()).isEmpty();
    KernelObjects left = KernelObjects.of(ProcessHandle.current().pid());
    assertThat(before.programs()).containsAll(left.programs());
    assertThat(before.maps()).containsAll(left.maps());
    assertThat(before.links()).containsAll(left.links());
  }

  @Test
  void bridgeAfterAFailedStart_observesOwnThreads() {
    TestObjects.assumeBpf();
    Map<String, String> environment =
        Map.of(
            "OTEL_TRACES_EXPORTER", "none",
            "OTEL_TRACES_SAMPLER", "always_on",
            "INFERSPAN_EBPF_SCOPE", "own");

    try (JavaChild child =
        JavaChild.start(BridgeProcess.class, environment, "fails", "once", "own")) {
      assertThat(child.line()).isEqualTo("failed: " + OUT_OF_THREADS);
      assertThat(child.line()).isEqualTo("attached");
      assertThat(child.line()).isEqualTo("own threads: 1");
    }
  }

  private EbpfBridge failing() {
    return failing(Telemetry.using(tracing.openTelemetry()));
  }

  /** Attaches a bridge that cannot create the thread that reads its ring. */
  static EbpfBridge failing(Telemetry telemetry) {
    BridgeConfig config =
        BridgeConfig.builder().scope(BridgeScope.own()).measuresPrograms(true).build();
    return EbpfBridge.attach(
        telemetry,
        config,
        (reader, handler, readiness) -> {
          throw new OutOfMemoryError(OUT_OF_THREADS);
        });
  }

  private static void assertFails(EbpfBridge bridge) {
    assertThat(bridge.support())
        .isInstanceOfSatisfying(
            EbpfSupport.Unavailable.class,
            none -> assertThat(none.reason()).isEqualTo(OUT_OF_THREADS));
  }

  private static List<String> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith("inferspan-ebpf"))
        .toList();
  }
}
