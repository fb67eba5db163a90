package io.inferspan.ebpf;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.Telemetry;
import io.inferspan.ebpf.libbpf.KernelObjects;
import io.inferspan.ebpf.libbpf.TestObjects;
import io.inferspan.ebpf.linux.OpenFiles;
import io.inferspan.testing.TracingExtension;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A bridge whose last part cannot begin, when all the others have. */
class FailedStartTest {

  private static final String OUT_OF_THREADS = "unable to create native thread";

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  @Test
  void failedStart_isSaidAndLeavesNothingBehind() throws IOException {
    TestObjects.assumeBpf();
    assertFails(failing());
    int files = OpenFiles.count();

    EbpfBridge failed = failing();

    assertFails(failed);
    assertThat(OpenFiles.count()).isEqualTo(files);
    assertThat(threads()).isEmpty();
    KernelObjects left = KernelObjects.of(ProcessHandle.current().pid());
    assertThat(left.programs()).isEmpty();
    assertThat(left.maps()).isEmpty();
    assertThat(left.links()).isEmpty();
  }

  @Test
  void bridgeAfterAFailedStart_watchesOwnThreads() {
    TestObjects.assumeBpf();
    assertFails(failing());

    try (EbpfBridge next = EbpfBridge.attach(telemetry(), BridgeConfig.defaults())) {
      assertThat(next.support().prerequisites())
          .extracting(Prerequisite::found)
          .doesNotContain("this process's own threads are watched by another bridge of it");
    }
  }

  private EbpfBridge failing() {
    BridgeConfig config = BridgeConfig.builder().measuresPrograms(true).build();
    return EbpfBridge.attach(
        telemetry(),
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

  private Telemetry telemetry() {
    return Telemetry.using(tracing.openTelemetry());
  }

  private static List<String> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith("inferspan-ebpf"))
        .toList();
  }
}
