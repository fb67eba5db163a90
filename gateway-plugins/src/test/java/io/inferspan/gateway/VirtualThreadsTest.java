package io.inferspan.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.Telemetry;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Gateways that give each request a virtual thread, on a JVM that has them. */
@Tag("java-21")
final class VirtualThreadsTest {

  private static final int REQUESTS = 500;
  private static final String TOKEN = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";

  private static final ThreadLocal<Map<String, String>> MDC = ThreadLocal.withInitial(HashMap::new);

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private final CurrentRequest bridge =
      new CurrentRequest((key, value) -> MDC.get().put(key, value), key -> MDC.get().remove(key));

  /** By its name, as these tests are compiled for 17. */
  private static ExecutorService virtualThreads() throws ReflectiveOperationException {
    return (ExecutorService)
        Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
  }

  private static <T> List<T> all(ExecutorService threads, Callable<T> one) throws Exception {
    List<Future<T>> begun = new ArrayList<>();
    for (int i = 0; i < REQUESTS; i++) {
      begun.add(threads.submit(one));
    }
    List<T> results = new ArrayList<>();
    for (Future<T> each : begun) {
      results.add(each.get(30, TimeUnit.SECONDS));
    }
    return results;
  }

  @Test
  void requests_keepTheirContextAndIds_whereverTheirThreadsGoOn() throws Exception {
    ExecutorService threads = virtualThreads();
    GatewayTracing gateway = GatewayTracing.create(Telemetry.using(tracing.openTelemetry()));
    List<Boolean> kept =
        all(
            threads,
            () -> {
              GatewayRequest live = gateway.begin(TestExchange.chat());
              boolean own = true;
              try (Scope ignored = bridge.enter(live.context())) {
                for (int i = 0; i < 3; i++) {
                  // Off its carrier, and on another one afterwards as like as not.
                  Thread.sleep(1);
                  own &= isCurrent(live);
                }
              }
              own &= MDC.get().isEmpty() && !Span.current().getSpanContext().isValid();
              live.status(200);
              live.end();
              return own;
            });
    threads.shutdown();
    assertThat(kept).containsOnly(true);
    assertThat(tracing.spans()).hasSize(REQUESTS);
    assertThat(tracing.spans()).extracting(SpanRecord::spanId).doesNotHaveDuplicates();
  }

  private boolean isCurrent(GatewayRequest live) {
    String id = Span.fromContext(live.context()).getSpanContext().getSpanId();
    return Context.current().equals(live.context())
        && Span.current().getSpanContext().getSpanId().equals(id)
        && id.equals(MDC.get().get(CurrentRequest.SPAN_ID));
  }

  @Test
  void answerThatAnotherThreadReads_isSeenAndEndsOnce() throws Exception {
    ExecutorService threads = virtualThreads();
    GatewayTracing gateway = GatewayTracing.create(Telemetry.using(tracing.openTelemetry()));
    byte[] token = TOKEN.getBytes(StandardCharsets.UTF_8);
    all(
        threads,
        () -> {
          GatewayRequest live = gateway.begin(TestExchange.chat());
          UpstreamAttempt attempt = live.attempt("engine:8000");
          Future<?> reading =
              threads.submit(
                  () -> {
                    attempt.responseHead(200, "text/event-stream", null);
                    for (int i = 0; i < 5; i++) {
                      attempt.see(ByteBuffer.wrap(token));
                      Thread.sleep(1);
                    }
                    attempt.end();
                    return true;
                  });
          live.status(200);
          reading.get(30, TimeUnit.SECONDS);
          live.end();
          live.clientGone();
          return true;
        });
    threads.shutdown();
    assertThat(tracing.spans())
        .hasSize(REQUESTS)
        .allMatch(span -> Long.valueOf(5).equals(span.attribute("inferspan.response.tokens")))
        .noneMatch(SpanRecord::isError);
  }
}
