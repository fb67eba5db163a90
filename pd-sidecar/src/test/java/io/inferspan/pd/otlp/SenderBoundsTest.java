package io.inferspan.pd.otlp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.pd.rig.Awaited;
import io.inferspan.testing.otlp.TestCertificate;
import io.opentelemetry.sdk.common.export.Compressor;
import io.opentelemetry.sdk.common.export.GrpcSender;
import io.opentelemetry.sdk.common.export.HttpSender;
import io.opentelemetry.sdk.common.export.RetryPolicy;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.net.PemKeyCertOptions;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.SocketTimeoutException;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What bounds a call to a collector holds for both senders: time, size, trust, form. */
final class SenderBoundsTest {
  private static final Buffer MESSAGE = Buffer.buffer("spans ".repeat(1_000));
  private static final long RESPONSE_BYTES = 1_000;
  private static final long TIMEOUT_MILLIS = 400;
  private static final Duration BOUND = Duration.ofSeconds(5);
  private static final RetryPolicy TIRELESS =
      RetryPolicy.builder()
          .setMaxAttempts(5)
          .setInitialBackoff(Duration.ofMillis(250))
          .setMaxBackoff(Duration.ofMillis(250))
          .setBackoffMultiplier(1.1)
          .build();

  private static final Compressor GZIP =
      new Compressor() {
        @Override
        public String getEncoding() {
          return "gzip";
        }

        @Override
        public OutputStream compress(OutputStream out) throws IOException {
          return new GZIPOutputStream(out);
        }
      };

  private Vertx vertx;

  /** The way that a message goes. */
  enum Protocol {
    GRPC {
      @Override
      void send(
          SenderSettings settings, CompletableFuture<Integer> status, CompletableFuture<?> others)
          throws Exception {
        GrpcSender sender = new VertxGrpcSenderProvider().createSender(settings.grpc());
        sender.send(
            new FixedMessage(MESSAGE),
            answer -> status.complete(answer.getStatusCode().getValue()),
            status::completeExceptionally);
        await(status, others);
        sender.shutdown().join(5, TimeUnit.SECONDS);
      }
    },
    HTTP {
      @Override
      void send(
          SenderSettings settings, CompletableFuture<Integer> status, CompletableFuture<?> others)
          throws Exception {
        HttpSender sender = new VertxHttpSenderProvider().createSender(settings.http());
        sender.send(
            new FixedMessage(MESSAGE),
            answer -> status.complete(answer.getStatusCode()),
            status::completeExceptionally);
        await(status, others);
        sender.shutdown().join(5, TimeUnit.SECONDS);
      }
    };

    abstract void send(
        SenderSettings settings, CompletableFuture<Integer> status, CompletableFuture<?> others)
        throws Exception;

    int ok() {
      return this == GRPC ? 0 : 200;
    }

    private static void await(CompletableFuture<?>... awaited) {
      CompletableFuture<Void> all = CompletableFuture.allOf(awaited).exceptionally(_ -> null);
      Awaited.within(Duration.ofSeconds(10), "an answer", all::isDone);
    }

    /** The status, or what went wrong. */
    int status(SenderSettings settings) throws Throwable {
      return status(settings, CompletableFuture.completedFuture(null));
    }

    /** The same, where something else is to come before the sender is shut down. */
    int status(SenderSettings settings, CompletableFuture<?> before) throws Throwable {
      CompletableFuture<Integer> status = new CompletableFuture<>();
      send(settings, status, before);
      try {
        return status.get();
      } catch (ExecutionException e) {
        throw e.getCause();
      }
    }
  }

  @BeforeEach
  void start() {
    vertx = OtlpTransport.own();
    OtlpTransport.use(vertx);
  }

  @AfterEach
  void stop() throws Exception {
    OtlpTransport.stopUsing(vertx);
    vertx.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
  }

  private int server(HttpServerOptions options, Consumer<HttpServerRequest> script)
      throws Exception {
    return vertx
        .createHttpServer(options)
        .requestHandler(script::accept)
        .listen(0, "127.0.0.1")
        .toCompletionStage()
        .toCompletableFuture()
        .get(10, TimeUnit.SECONDS)
        .actualPort();
  }

  private SenderSettings to(Consumer<HttpServerRequest> script) throws Exception {
    return settings("http", server(new HttpServerOptions(), script));
  }

  private static SenderSettings settings(String scheme, int port) {
    String endpoint = scheme + "://127.0.0.1:" + port + "/v1/traces";
    return new SenderSettings(endpoint, null, 8_000, RESPONSE_BYTES);
  }

  private static HttpServerResponse good(HttpServerRequest call) {
    return call.response()
        .putHeader("content-type", "application/grpc")
        .putTrailer("grpc-status", "0");
  }

  private static Duration taken(long startNanos) {
    return Duration.ofNanos(System.nanoTime() - startNanos);
  }

  @ParameterizedTest
  @EnumSource
  void collectorThatIsSilent_isGivenUpAtTheDeadline(Protocol protocol) throws Exception {
    SenderSettings silent = to(_ -> {}).within(TIMEOUT_MILLIS);
    long start = System.nanoTime();

    assertThatThrownBy(() -> protocol.status(silent))
        .isInstanceOf(SocketTimeoutException.class)
        .hasMessageContaining(TIMEOUT_MILLIS + " ms");

    assertThat(taken(start)).isBetween(Duration.ofMillis(TIMEOUT_MILLIS - 50), BOUND);
  }

  @ParameterizedTest
  @EnumSource
  void answerThatTrickles_isGivenUpAtTheDeadline(Protocol protocol) throws Exception {
    SenderSettings trickling =
        to(call -> {
              HttpServerResponse answer = good(call).setChunked(true);
              vertx.setPeriodic(20, _ -> answer.write("x"));
            })
            .within(TIMEOUT_MILLIS);

    assertThatThrownBy(() -> protocol.status(trickling)).isInstanceOf(SocketTimeoutException.class);
  }

  @ParameterizedTest
  @EnumSource
  void handshakeThatDoesNotCome_isGivenUpAtTheDeadline(Protocol protocol) throws Exception {
    try (ServerSocket mute = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      long start = System.nanoTime();

      assertThatThrownBy(
              () -> protocol.status(settings("https", mute.getLocalPort()).within(TIMEOUT_MILLIS)))
          .isInstanceOf(SocketTimeoutException.class);
      assertThat(taken(start)).isLessThan(BOUND);
    }
  }

  @ParameterizedTest
  @EnumSource
  void deadline_isForAllRepetitionsTogether(Protocol protocol) throws Throwable {
    AtomicInteger seen = new AtomicInteger();
    SenderSettings busy =
        to(call -> {
              seen.incrementAndGet();
              call.response().setStatusCode(503).end();
            })
            .retrying(TIRELESS)
            .within(TIMEOUT_MILLIS);

    int status = protocol.status(busy);

    assertThat(status).isNotEqualTo(protocol.ok());
    int calls = seen.get();
    assertThat(calls).as("repetitions that still fit").isBetween(1, 2);
    assertThat(Awaited.holds(Duration.ofMillis(600), () -> seen.get() > calls)).isFalse();
  }

  @ParameterizedTest
  @EnumSource
  void withoutADeadline_aSlowAnswerIsWaitedFor(Protocol protocol) throws Throwable {
    SenderSettings slow = to(call -> vertx.setTimer(300, _ -> good(call).end())).within(0);

    assertThat(protocol.status(slow)).isEqualTo(protocol.ok());
  }

  @ParameterizedTest
  @EnumSource
  void answerAtTheBound_isTaken_andOneByteMoreIsNot(Protocol protocol) throws Throwable {
    AtomicInteger size = new AtomicInteger((int) RESPONSE_BYTES);
    SenderSettings settings = to(call -> good(call).setChunked(true).end("x".repeat(size.get())));

    assertThat(protocol.status(settings)).isEqualTo(protocol.ok());

    size.incrementAndGet();
    if (protocol == Protocol.GRPC) {
      assertThat(protocol.status(settings)).as("RESOURCE_EXHAUSTED").isEqualTo(8);
    } else {
      assertThatThrownBy(() -> protocol.status(settings)).hasMessageContaining("larger");
    }
  }

  @ParameterizedTest
  @EnumSource
  void answerWithoutEnd_isCutOffAtTheBound(Protocol protocol) throws Throwable {
    CompletableFuture<Void> cut = new CompletableFuture<>();
    SenderSettings endless =
        to(
            call -> {
              HttpServerResponse answer = good(call).setChunked(true);
              long writing = vertx.setPeriodic(5, _ -> answer.write("x".repeat(300)));
              Consumer<Object> end =
                  _ -> {
                    vertx.cancelTimer(writing);
                    cut.complete(null);
                  };
              answer.exceptionHandler(end::accept);
              answer.closeHandler(end::accept);
            });

    try {
      assertThat(protocol.status(endless, cut)).isNotEqualTo(protocol.ok());
    } catch (IOException e) {
      assertThat(e).hasMessageContaining("larger");
    }
    assertThat(cut).isCompleted();
  }

  @ParameterizedTest
  @EnumSource
  void givenTrust_decidesWhoIsSpokenTo_andHow(Protocol protocol) throws Throwable {
    TestCertificate certificate = TestCertificate.create();
    AtomicInteger seen = new AtomicInteger();
    AtomicReference<String> version = new AtomicReference<>();
    int port =
        server(
            tls(certificate),
            call -> {
              seen.incrementAndGet();
              version.set(call.sslSession().getProtocol());
              good(call).end();
            });
    SenderSettings settings = settings("https", port);

    assertThatThrownBy(() -> protocol.status(settings))
        .hasRootCauseInstanceOf(Exception.class)
        .satisfies(failure -> assertThat(chain(failure)).contains(SSLHandshakeException.class));
    SSLContext another = trusting(TestCertificate.create());
    assertThatThrownBy(() -> protocol.status(settings.trusting(another)))
        .satisfies(failure -> assertThat(chain(failure)).contains(SSLHandshakeException.class));
    assertThat(seen).hasValue(0);

    SSLContext right = trusting(certificate);
    assertThat(protocol.status(settings.trusting(right))).isEqualTo(protocol.ok());
    assertThat(version).hasValue("TLSv1.3");
    assertThat(protocol.status(settings.trusting(right, "TLSv1.2"))).isEqualTo(protocol.ok());
    assertThat(version).hasValue("TLSv1.2");
  }

  private static List<Class<?>> chain(Throwable failure) {
    List<Class<?>> chain = new ArrayList<>();
    for (Throwable one = failure; one != null; one = one.getCause()) {
      chain.add(one.getClass());
    }
    return chain;
  }

  private static HttpServerOptions tls(TestCertificate certificate) {
    return new HttpServerOptions()
        .setSsl(true)
        .setUseAlpn(true)
        .setKeyCertOptions(
            new PemKeyCertOptions()
                .addCertValue(Buffer.buffer(certificate.certificateBytes()))
                .addKeyValue(Buffer.buffer(certificate.privateKeyBytes())));
  }

  private static SSLContext trusting(TestCertificate certificate) throws Exception {
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null);
    store.setCertificateEntry(
        "collector",
        CertificateFactory.getInstance("X.509")
            .generateCertificate(new ByteArrayInputStream(certificate.certificateBytes())));
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(store);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return context;
  }

  @ParameterizedTest
  @EnumSource
  void compressedMessage_saysSo_andIsTheMessage(Protocol protocol) throws Throwable {
    CompletableFuture<Buffer> body = new CompletableFuture<>();
    AtomicReference<@Nullable String> encoding = new AtomicReference<>();
    String header = protocol == Protocol.GRPC ? "grpc-encoding" : "content-encoding";
    SenderSettings settings =
        to(call -> {
              encoding.set(call.getHeader(header));
              call.body().onSuccess(body::complete);
              good(call).end();
            })
            .compressing(GZIP);

    assertThat(protocol.status(settings)).isEqualTo(protocol.ok());

    assertThat(encoding).hasValue("gzip");
    Buffer sent = body.get(5, TimeUnit.SECONDS);
    assertThat(sent.length()).isLessThan(MESSAGE.length());
    if (protocol == Protocol.GRPC) {
      assertThat(sent.getByte(0)).as("compressed").isOne();
      assertThat(sent.getInt(1)).as("length").isEqualTo(sent.length() - 5);
      sent = sent.slice(5, sent.length());
    }
    try (InputStream plain = new GZIPInputStream(new ByteArrayInputStream(sent.getBytes()))) {
      assertThat(plain.readAllBytes()).isEqualTo(MESSAGE.getBytes());
    }
  }

  @ParameterizedTest
  @EnumSource
  void messageAsItIs_saysNothingOfCompression(Protocol protocol) throws Throwable {
    AtomicReference<@Nullable String> encoding = new AtomicReference<>("not asked");
    String header = protocol == Protocol.GRPC ? "grpc-encoding" : "content-encoding";
    SenderSettings settings =
        to(
            call -> {
              encoding.set(call.getHeader(header));
              good(call).end();
            });

    assertThat(protocol.status(settings)).isEqualTo(protocol.ok());
    assertThat(encoding).hasValue(null);
  }
}
