package io.inferspan.gateway.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.Telemetry;
import io.inferspan.gateway.CurrentRequest;
import io.inferspan.gateway.GatewayRequest;
import io.inferspan.gateway.GatewayTracing;
import io.inferspan.gateway.UpstreamAttempt;
import io.inferspan.gateway.Wire;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import io.inferspan.testing.engine.FakeEngine;
import io.opentelemetry.api.trace.Span;
import io.vertx.core.AbstractVerticle;
import io.vertx.core.Context;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Promise;
import io.vertx.core.ThreadingModel;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A gateway on Vert.x whose handlers run on virtual threads and block on their calls. */
@Tag("java-21")
final class VirtualThreadGatewayTest {

  private static final int REQUESTS = 5;
  private static final String STREAM = "{\"model\":\"tiny\",\"prompt\":\"one\",\"stream\":true}";

  private static final ThreadLocal<Map<String, String>> MDC = ThreadLocal.withInitial(HashMap::new);

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private final FakeEngine engine = FakeEngine.start();
  private final Vertx vertx = Vertx.vertx();
  private final CompletableFuture<Integer> port = new CompletableFuture<>();
  private final Queue<Object> found = new ConcurrentLinkedQueue<>();
  private final CountDownLatch noted = new CountDownLatch(3 * REQUESTS);

  @AfterEach
  void stop() {
    vertx.close().toCompletionStage().toCompletableFuture().orTimeout(10, TimeUnit.SECONDS).join();
    engine.close();
  }

  private final class Waiting extends AbstractVerticle {

    @Override
    public void start(Promise<Void> started) {
      HttpClient client = vertx.createHttpClient();
      VertxGateway gateway =
          new VertxGateway(
              GatewayTracing.create(Telemetry.using(tracing.openTelemetry())),
              new CurrentRequest(
                  (key, value) -> MDC.get().put(key, value), key -> MDC.get().remove(key)));
      HttpServer server = vertx.createHttpServer();
      server
          .requestHandler(gateway.handler((request, live) -> serve(client, request, live)))
          .listen(0, "127.0.0.1")
          .onSuccess(listening -> port.complete(listening.actualPort()))
          .<Void>mapEmpty()
          .onComplete(started);
    }

    private void serve(HttpClient client, HttpServerRequest request, GatewayRequest live) {
      Buffer body = Buffer.buffer();
      VertxGateway.asking(live, request).handler(body::appendBuffer);
      request.end().await();
      note(live);
      UpstreamAttempt attempt = live.attempt("127.0.0.1", engine.port());
      HttpClientRequest call =
          client.request(request.method(), engine.port(), "127.0.0.1", request.uri()).await();
      VertxGateway.calling(attempt, call);
      HttpClientResponse answer = call.send(body).await();
      note(live);
      request.response().setStatusCode(answer.statusCode()).setChunked(true);
      VertxGateway.answering(attempt, answer).pipeTo(request.response()).await();
      note(live);
    }

    /** Records what a handler finds after it has waited. */
    private void note(GatewayRequest live) {
      Context context = Objects.requireNonNull(Vertx.currentContext());
      String id = Span.fromContext(live.context()).getSpanContext().getSpanId();
      boolean own =
          live.equals(VertxGateway.current())
              && Span.current().getSpanContext().getSpanId().equals(id)
              && id.equals(MDC.get().get(CurrentRequest.SPAN_ID));
      found.add(own ? context.threadingModel() : "another request");
      noted.countDown();
    }
  }

  @Test
  void handlersThatWait_areTracedAndFindTheirRequest() throws Exception {
    vertx
        .deployVerticle(
            Waiting::new, new DeploymentOptions().setThreadingModel(ThreadingModel.VIRTUAL_THREAD))
        .onFailure(port::completeExceptionally);
    try (Wire wire = new Wire(port.get(10, TimeUnit.SECONDS))) {
      for (int i = 0; i < REQUESTS; i++) {
        wire.send(Wire.chat(STREAM));
        assertThat(wire.read().text()).endsWith("data: [DONE]\n\n");
      }
    }
    List<SpanRecord> spans = tracing.awaitSpans(REQUESTS, Duration.ofSeconds(10));
    assertThat(spans)
        .hasSize(REQUESTS)
        .allMatch(span -> "tiny".equals(span.attribute("gen_ai.request.model")))
        .allMatch(span -> Long.valueOf(5).equals(span.attribute("inferspan.response.tokens")))
        .noneMatch(SpanRecord::isError);
    assertThat(engine.requests())
        .allSatisfy(request -> assertThat(request.headers("traceparent")).hasSize(1));
    assertThat(noted.await(10, TimeUnit.SECONDS)).isTrue();
    assertThat(found).hasSize(3 * REQUESTS).containsOnly(ThreadingModel.VIRTUAL_THREAD);
  }
}
