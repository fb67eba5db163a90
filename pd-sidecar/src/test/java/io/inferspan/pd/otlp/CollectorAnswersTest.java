package io.inferspan.pd.otlp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.opentelemetry.sdk.common.export.GrpcResponse;
import io.opentelemetry.sdk.common.export.GrpcSender;
import io.opentelemetry.sdk.common.export.GrpcStatusCode;
import io.opentelemetry.sdk.common.export.HttpResponse;
import io.opentelemetry.sdk.common.export.HttpSender;
import io.opentelemetry.sdk.common.export.RetryPolicy;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.StreamResetException;
import java.io.IOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the senders make of the answers of a scripted collector. */
class CollectorAnswersTest {

  private static final Buffer MESSAGE = Buffer.buffer("spans");
  private static final RetryPolicy EAGER =
      RetryPolicy.builder()
          .setMaxAttempts(3)
          .setInitialBackoff(Duration.ofMillis(10))
          .setMaxBackoff(Duration.ofMillis(20))
          .build();

  private static Vertx vertx;
  private static int port;
  private static volatile Consumer<HttpServerRequest> script = call -> call.response().end();

  @BeforeAll
  static void start() throws Exception {
    vertx = OtlpTransport.own();
    OtlpTransport.use(vertx);
    port =
        vertx
            .createHttpServer()
            .requestHandler(call -> script.accept(call))
            .listen(0, "127.0.0.1")
            .toCompletionStage()
            .toCompletableFuture()
            .get(10, TimeUnit.SECONDS)
            .actualPort();
  }

  @AfterAll
  static void stop() throws Exception {
    OtlpTransport.stopUsing(vertx);
    vertx.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
  }

  private static SenderSettings settings() {
    return new SenderSettings("http://127.0.0.1:" + port + "/v1/traces", null, 2_000, 1_000);
  }

  private static GrpcResponse grpc(SenderSettings settings) throws Exception {
    GrpcSender sender = new VertxGrpcSenderProvider().createSender(settings.grpc());
    CompletableFuture<GrpcResponse> answer = new CompletableFuture<>();
    sender.send(new FixedMessage(MESSAGE), answer::complete, answer::completeExceptionally);
    try {
      return answer.get(10, TimeUnit.SECONDS);
    } finally {
      sender.shutdown();
    }
  }

  private static HttpResponse http(SenderSettings settings) throws Exception {
    HttpSender sender = new VertxHttpSenderProvider().createSender(settings.http());
    CompletableFuture<HttpResponse> answer = new CompletableFuture<>();
    sender.send(new FixedMessage(MESSAGE), answer::complete, answer::completeExceptionally);
    try {
      return answer.get(10, TimeUnit.SECONDS);
    } finally {
      sender.shutdown();
    }
  }

  private static @Nullable Throwable failure(Attempt attempt) throws Exception {
    try {
      attempt.run();
      return null;
    } catch (ExecutionException e) {
      return e.getCause();
    }
  }

  private interface Attempt {
    void run() throws Exception;
  }

  @Test
  void grpcMessage_isOneFrameToItsMethod() throws Exception {
    AtomicReference<@Nullable String> path = new AtomicReference<>();
    CompletableFuture<Buffer> body = new CompletableFuture<>();
    script =
        call -> {
          path.set(call.path());
          call.body().onSuccess(body::complete);
          call.response().putTrailer("grpc-status", "0").end();
        };

    assertThat(grpc(settings()).getStatusCode()).isEqualTo(GrpcStatusCode.OK);
    assertThat(path).hasValue("/" + SenderSettings.METHOD);
    assertThat(body.get(10, TimeUnit.SECONDS))
        .isEqualTo(Buffer.buffer().appendByte((byte) 0).appendInt(5).appendBuffer(MESSAGE));
  }

  @Test
  void grpcStatus_isReadFromTrailersAfterAMessage() throws Exception {
    script =
        call -> {
          call.response().putTrailer("grpc-status", "0");
          call.response().end(Buffer.buffer().appendByte((byte) 0).appendInt(2).appendString("ok"));
        };
    GrpcResponse answer = grpc(settings());

    assertThat(answer.getStatusCode()).isEqualTo(GrpcStatusCode.OK);
    assertThat(answer.getResponseMessage()).asString().isEqualTo("ok");
  }

  @Test
  void grpcStatus_isReadFromHeadersWhereThereIsNothingElse() throws Exception {
    script =
        call ->
            call.response()
                .putHeader("grpc-status", "3")
                .putHeader("grpc-message", "100%25 wr%C3%B6ng, 5% of it")
                .end();
    GrpcResponse answer = grpc(settings());

    assertThat(answer.getStatusCode()).isEqualTo(GrpcStatusCode.INVALID_ARGUMENT);
    assertThat(answer.getStatusDescription()).isEqualTo("100% wr\u00f6ng, 5% of it");
  }

  @ParameterizedTest
  @CsvSource({"503,UNAVAILABLE", "404,UNIMPLEMENTED", "401,UNAUTHENTICATED", "200,UNKNOWN"})
  void httpStatus_standsInForAMissingGrpcStatus(int status, GrpcStatusCode code) throws Exception {
    script = call -> call.response().setStatusCode(status).end();

    assertThat(grpc(settings()).getStatusCode()).isEqualTo(code);
  }

  @Test
  void answersThatAreTooLarge_areNotKept() throws Exception {
    script = call -> call.response().putTrailer("grpc-status", "0").end("x".repeat(1_001));

    assertThat(grpc(settings()).getStatusCode()).isEqualTo(GrpcStatusCode.RESOURCE_EXHAUSTED);
    assertThat(failure(() -> http(settings()))).isInstanceOf(IOException.class);
  }

  @Test
  void httpAnswer_isHandedOn() throws Exception {
    script = call -> call.response().setStatusCode(400).end("bad");
    HttpResponse answer = http(settings());

    assertThat(answer.getStatusCode()).isEqualTo(400);
    assertThat(answer.getResponseBody()).asString().isEqualTo("bad");
  }

  @ParameterizedTest
  @CsvSource({"503,3", "429,3", "500,1", "400,1"})
  void passingFailures_areTriedAgainAsOftenAsThePolicySays(int status, int calls) throws Exception {
    AtomicInteger seen = new AtomicInteger();
    script =
        call -> {
          seen.incrementAndGet();
          call.response().setStatusCode(status).end();
        };

    assertThat(http(settings().retrying(EAGER)).getStatusCode()).isEqualTo(status);
    assertThat(seen).hasValue(calls);
    seen.set(0);
    assertThat(http(settings()).getStatusCode()).isEqualTo(status);
    assertThat(seen).as("without a policy").hasValue(1);
  }

  @Test
  void brokenConnection_isTriedAgain() throws Exception {
    AtomicInteger seen = new AtomicInteger();
    script =
        call -> {
          if (seen.incrementAndGet() == 1) {
            call.connection().close();
          } else {
            call.response().end();
          }
        };

    assertThat(http(settings().retrying(EAGER)).getStatusCode()).isEqualTo(200);
    seen.set(0);
    assertThat(failure(() -> http(settings()))).isInstanceOf(SocketException.class);
  }

  @Test
  void retryAfter_isHonouredUnlessItIsTooLate() throws Exception {
    AtomicInteger seen = new AtomicInteger();
    script =
        call -> {
          boolean first = seen.incrementAndGet() == 1;
          call.response().putHeader("retry-after", "1").setStatusCode(first ? 503 : 200).end();
        };
    long start = System.nanoTime();
    assertThat(http(settings().retrying(EAGER)).getStatusCode()).isEqualTo(200);
    assertThat(System.nanoTime() - start).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(900));

    seen.set(0);
    start = System.nanoTime();
    assertThat(http(settings().retrying(EAGER).within(900)).getStatusCode()).isEqualTo(503);
    assertThat(System.nanoTime() - start).isLessThan(TimeUnit.MILLISECONDS.toNanos(800));
  }

  @Test
  void silence_isATimeoutThatResetsTheStream() throws Exception {
    CompletableFuture<Throwable> reset = new CompletableFuture<>();
    script = call -> call.response().exceptionHandler(reset::complete);

    assertThat(failure(() -> grpc(settings().within(100))))
        .isInstanceOf(SocketTimeoutException.class)
        .hasMessageContaining("100 ms");
    assertThat(reset.get(10, TimeUnit.SECONDS)).isInstanceOf(StreamResetException.class);
  }

  @Test
  void callbacks_runOnAThreadThatMayBlock() throws Exception {
    script = call -> call.response().end();
    HttpSender sender = new VertxHttpSenderProvider().createSender(settings().http());
    CompletableFuture<Thread> thread = new CompletableFuture<>();
    sender.send(
        new FixedMessage(MESSAGE),
        answer -> thread.complete(Thread.currentThread()),
        thread::completeExceptionally);

    assertThat(thread.get(10, TimeUnit.SECONDS).isVirtual()).isTrue();
    sender.shutdown();
  }

  @Test
  void shutdown_failsWhatIsUnderWayAndWhatComesLater() throws Exception {
    CompletableFuture<Void> arrived = new CompletableFuture<>();
    script = call -> arrived.complete(null);
    HttpSender sender = new VertxHttpSenderProvider().createSender(settings().http());
    CompletableFuture<Object> underWay = new CompletableFuture<>();
    sender.send(new FixedMessage(MESSAGE), underWay::complete, underWay::completeExceptionally);
    arrived.get(10, TimeUnit.SECONDS);

    assertThat(sender.shutdown().join(10, TimeUnit.SECONDS).isSuccess()).isTrue();
    assertThat(underWay).failsWithin(10, TimeUnit.SECONDS);
    CompletableFuture<Object> late = new CompletableFuture<>();
    sender.send(new FixedMessage(MESSAGE), late::complete, late::completeExceptionally);
    assertThat(late).isCompletedExceptionally();
    assertThat(sender.shutdown().isSuccess()).isTrue();
  }

  @Test
  void messageThatCannotBeWritten_isAnError() throws Exception {
    HttpSender sender = new VertxHttpSenderProvider().createSender(settings().http());
    CompletableFuture<Object> answer = new CompletableFuture<>();
    sender.send(FixedMessage.BROKEN, answer::complete, answer::completeExceptionally);

    assertThat(answer).isCompletedExceptionally();
  }

  @ParameterizedTest
  @CsvSource({
    "http://collector,collector,80,false",
    "https://collector/,collector,443,true",
    "http://otel_collector:4317,otel_collector,4317,false",
    "http://user@collector:1,collector,1,false",
    "https://[::1]:4317,::1,4317,true"
  })
  void endpoint_saysWhereTheCollectorIs(String endpoint, String host, int at, boolean secure) {
    CollectorSettings read =
        CollectorSettings.of(new SenderSettings(endpoint, null, 1_000, 1_000).grpc());

    assertThat(read.host()).isEqualTo(host);
    assertThat(read.port()).isEqualTo(at);
    assertThat(read.secure()).isEqualTo(secure);
    assertThat(read.pathAndQuery()).isEqualTo("/" + SenderSettings.METHOD);
  }

  @Test
  void endpointWithoutHost_isRefusedAtTheStart() {
    SenderSettings nowhere = new SenderSettings("http:///v1/traces", null, 1_000, 1_000);

    assertThatThrownBy(() -> new VertxHttpSenderProvider().createSender(nowhere.http()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("The OTLP endpoint is http:///v1/traces, but must be like http://host:4317");
  }
}
