package io.inferspan.ebpf;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.Telemetry;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SpanProcessor;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A bridge whose reader of events never returns from a span processor. */
class StuckReaderIT {

  private static final String CLOCK = "inferspan-ebpf-clock";
  private static final String TRACEPARENT =
      "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

  @TempDir private Path directory;

  @Test
  void bridgeIsClosed_threadOfTheClockEnds() throws Exception {
    Path kit = TestKit.directory();
    List<String> program =
        List.of(
            "/usr/bin/python3",
            TestKit.script("commanded.py").toString(),
            kit.toString(),
            directory.toString());
    Stuck stuck = new Stuck();
    SdkTracerProvider provider = SdkTracerProvider.builder().addSpanProcessor(stuck).build();
    try (OpenTelemetrySdk sdk = OpenTelemetrySdk.builder().setTracerProvider(provider).build();
        ServerSocket reference = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      BridgeConfig config =
          TestKit.children().clockReference("127.0.0.1:" + reference.getLocalPort()).build();
      EbpfBridge bridge = EbpfBridge.attach(Telemetry.using(sdk), config);
      try (bridge;
          JavaChild child = JavaChild.start(program, Map.of())) {
        assertThat(child.line()).isEqualTo("ready");
        TestKit.awaitLibrary(bridge, "libinferspan_ckp.so");
        child.send("waits " + TRACEPARENT);
        assertThat(child.line()).isEqualTo("done");
        stuck.reached.await();
        assertThat(isClockRunning()).isTrue();
      }
      Eventually.is("the end of the clock's thread", () -> !isClockRunning());
    } finally {
      stuck.released.countDown();
    }
  }

  private static boolean isClockRunning() {
    return Thread.getAllStackTraces().keySet().stream()
        .anyMatch(thread -> thread.getName().equals(CLOCK));
  }

  private static final class Stuck implements SpanProcessor {

    final CountDownLatch reached = new CountDownLatch(1);
    final CountDownLatch released = new CountDownLatch(1);

    @Override
    public void onStart(Context parent, ReadWriteSpan span) {
      reached.countDown();
      try {
        released.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    @Override
    public boolean isStartRequired() {
      return true;
    }

    @Override
    public void onEnd(ReadableSpan span) {}

    @Override
    public boolean isEndRequired() {
      return false;
    }
  }
}
