package io.inferspan.ebpf.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.Eventually;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A thread that ends while a span is current on it, because the program closed no scope. */
class OwnThreadExitIT {

  @Test
  void threadThatEndsWithAnOpenScope_isRemovedByTheKernelPrograms() throws InterruptedException {
    try (LoadedKernel kernel = LoadedKernel.start()) {
      AtomicInteger tid = new AtomicInteger();
      Thread thread =
          Thread.ofPlatform()
              .start(
                  () -> {
                    kernel.publish();
                    tid.set(kernel.identity.currentTid());
                    assertThat(LoadedKernel.knows(tid.get())).isTrue();
                  });
      thread.join();

      // Nothing in this process sweeps ended threads.
      Eventually.is("the end of the thread", () -> !LoadedKernel.knows(tid.get()));
      assertThat(tid.get()).isPositive();
    }
  }
}
