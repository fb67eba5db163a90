package io.inferspan.ebpf.coldstart;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.coldstart.Readiness.Cause;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class ReadinessTest {

  private final Readiness readiness = new Readiness();

  @Test
  void lineBeforeTheExit_countsEvenIfItIsReadAfterwards() throws Exception {
    CountDownLatch ended = new CountDownLatch(1);
    Process process = shell("echo starting; echo ready");

    readiness.whenLogged(process, Pattern.compile("ready"), holdingUpUntil(ended));
    readiness.whenEnded(process.toHandle());
    var ignored = process.onExit().thenRun(ended::countDown);

    assertThat(readiness.ready().get().cause()).isEqualTo(Cause.LOG);
  }

  @Test
  void exit_isReported_thoughADescendantKeepsTheOutputOpen() throws Exception {
    Process process = shell("sleep 5 & echo $!");

    readiness.whenLogged(process, Pattern.compile("ready"), holdingUpUntil(new CountDownLatch(0)));
    readiness.whenEnded(process.toHandle());

    assertThat(readiness.ready().get().cause()).isEqualTo(Cause.EXIT);
  }

  private static Process shell(String script) throws IOException {
    return new ProcessBuilder("sh", "-c", script).start();
  }

  /** Returns a stream whose first line is only written when the latch opens. */
  private static PrintStream holdingUpUntil(CountDownLatch latch) {
    return new PrintStream(new ByteArrayOutputStream(), true, UTF_8) {
      @Override
      public void println(String line) {
        try {
          latch.await();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      }
    };
  }
}
