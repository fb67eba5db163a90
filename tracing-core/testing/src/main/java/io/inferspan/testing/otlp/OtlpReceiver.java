package io.inferspan.testing.otlp;

import io.inferspan.testing.SpanLog;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.server.Arrivals;
import io.inferspan.testing.server.LoopbackServer;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.http.Http2Settings;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.PemTrustOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A real OTLP trace receiver on the loopback interface: one port for OTLP/gRPC and OTLP/HTTP
 * (protobuf), plain or TLS.
 *
 * <pre>{@code
 * try (OtlpReceiver receiver = OtlpReceiver.start()) {
 *   runWith("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.endpoint());
 *   List<SpanRecord> spans = receiver.awaitSpans(3, Duration.ofSeconds(10));
 * }
 * }</pre>
 *
 * <p>It keeps every accepted span until {@link #clear()}. It can also simulate failures ({@link
 * Behaviour}). Its threads are daemon threads, so a receiver that is not closed does not keep the
 * JVM alive.
 */
public final class OtlpReceiver implements AutoCloseable {
  /**
   * The maximum total size of the bodies that {@link #rawBodies()} keeps, in bytes; the oldest are
   * dropped first.
   */
  public static final int MAX_RETAINED_BYTES = 64 << 20;

  /** The maximum number of calls that {@link #requestHeaders()} and {@link #rawBodies()} keep. */
  public static final int MAX_RETAINED_CALLS = 10_000;

  /** The response to an export call. */
  public enum Behaviour {
    /** Accepts the spans. */
    ACCEPT,
    /** Returns a retryable error: gRPC status UNAVAILABLE (14), or HTTP 503. */
    REJECT,
    /** Returns a permanent error: gRPC status INVALID_ARGUMENT (3), or HTTP 400. */
    REFUSE,
    /** Reads the request and never responds. */
    NEVER_ANSWER
  }

  /** An export call. */
  record Call(String protocol, Map<String, String> headers) {}

  final SpanLog spans = new SpanLog();

  /** The export calls, accepted or not. */
  final Arrivals<Call> calls = new Arrivals<>(MAX_RETAINED_CALLS);

  /** The bodies of all requests, without framing and decompressed. */
  final Arrivals<byte[]> bodies =
      new Arrivals<>(MAX_RETAINED_CALLS, MAX_RETAINED_BYTES, body -> body.length);

  /** Why requests were not accepted; only the last reason is kept. */
  final Arrivals<String> problems = new Arrivals<>(1);

  private final LoopbackServer server;
  private final String scheme;
  volatile Behaviour behaviour;

  private OtlpReceiver(Builder builder) {
    behaviour = builder.behaviour;
    scheme = builder.certificate == null ? "http" : "https";
    server = new LoopbackServer("OtlpReceiver", builder.serverOptions());
    server.listen("127.0.0.1", builder.port, new ExportHandler(this));
  }

  /** Starts a receiver without TLS on a free port. */
  public static OtlpReceiver start() {
    return builder().start();
  }

  /** Returns a builder for a receiver with other settings. */
  public static Builder builder() {
    return new Builder();
  }

  /** Builder for {@link OtlpReceiver}. */
  public static final class Builder {
    private int port;
    private @Nullable Path certificate;
    private @Nullable Path privateKey;
    private @Nullable Path clientCa;
    private Behaviour behaviour = Behaviour.ACCEPT;

    private Builder() {}

    /** Sets the port; 0, the default, selects a free port. */
    public Builder port(int port) {
      if (port < 0 || port > 65_535) {
        throw new IllegalArgumentException("port must be between 0 and 65535, not " + port);
      }
      this.port = port;
      return this;
    }

    /** Requires TLS, with this certificate (chain) and its PKCS#8 key, both PEM files. */
    public Builder tls(Path certificatePem, Path privateKeyPem) {
      this.certificate = certificatePem;
      this.privateKey = privateKeyPem;
      return this;
    }

    /** Requires TLS, with this certificate. */
    public Builder tls(TestCertificate certificate) {
      return tls(certificate.certificatePem(), certificate.privateKeyPem());
    }

    /** Requires a client certificate signed by an authority in this PEM file; needs {@code tls}. */
    public Builder clientCa(Path caPem) {
      this.clientCa = caPem;
      return this;
    }

    /** Sets the initial behaviour; {@link Behaviour#ACCEPT} by default. */
    public Builder behaviour(Behaviour behaviour) {
      this.behaviour = behaviour;
      return this;
    }

    /** Starts the receiver; it listens when this returns. */
    public OtlpReceiver start() {
      return new OtlpReceiver(this);
    }

    private HttpServerOptions serverOptions() {
      HttpServerOptions options =
          new HttpServerOptions()
              .setInitialSettings(new Http2Settings().setInitialWindowSize(1 << 20))
              .setHttp2ConnectionWindowSize(4 << 20)
              // Clients of a receiver that never answers reset their streams, which is not an
              // attack.
              .setHttp2RstFloodMaxRstFramePerWindow(1_000_000);
      if (certificate != null && privateKey != null) {
        options
            .setSsl(true)
            .setUseAlpn(true)
            .setKeyCertOptions(
                new PemKeyCertOptions()
                    .addCertValue(read(certificate))
                    .addKeyValue(read(privateKey)));
      }
      if (clientCa != null) {
        if (certificate == null) {
          throw new IllegalStateException("OtlpReceiver: clientCa needs tls(certificate, key)");
        }
        options
            .setClientAuth(ClientAuth.REQUIRED)
            .setTrustOptions(new PemTrustOptions().addCertValue(read(clientCa)));
      }
      return options;
    }

    private static Buffer read(Path pem) {
      try {
        return Buffer.buffer(Files.readAllBytes(pem));
      } catch (IOException e) {
        throw new IllegalArgumentException("OtlpReceiver: cannot read PEM file " + pem, e);
      }
    }
  }

  /** Returns the base URL for {@code OTEL_EXPORTER_OTLP_ENDPOINT}, for both protocols. */
  public String endpoint() {
    return scheme + "://localhost:" + server.port();
  }

  /** Returns the URL for traces over OTLP/HTTP, for an exporter's builder. */
  public String httpTracesEndpoint() {
    return endpoint() + ExportHandler.HTTP_PATH;
  }

  /** Returns the port. */
  public int port() {
    return server.port();
  }

  /** Sets the behaviour from the next request on. */
  public void behave(Behaviour behaviour) {
    this.behaviour = behaviour;
  }

  /** Returns the accepted spans since the last {@link #clear()}, in the order of arrival. */
  public List<SpanRecord> spans() {
    return spans.spans();
  }

  /** Waits for at least this many accepted spans and returns all; fails after the limit. */
  public List<SpanRecord> awaitSpans(int count, Duration timeout) {
    return spans.await(count, timeout, this::remarks);
  }

  /** Waits for at least this many spans of one trace and returns them; fails after the limit. */
  public List<SpanRecord> awaitTrace(String traceId, int count, Duration timeout) {
    return spans.awaitTrace(traceId, count, timeout, this::remarks);
  }

  /** Waits for at least this many export calls, accepted or not; fails after the limit. */
  public void awaitRequests(int count, Duration timeout) {
    calls.await(
        () -> calls.count() >= count,
        timeout,
        () ->
            "expected %d export calls within %d ms%s"
                .formatted(count, timeout.toMillis(), remarks()));
  }

  /** Returns the headers of each export call, accepted or not, with lower-case names. */
  public List<Map<String, String>> requestHeaders() {
    return calls.list().stream().map(Call::headers).toList();
  }

  /**
   * Returns the body of each request, without gRPC framing and decompressed, to search for data
   * that must not be sent. Includes rejected requests and requests to other paths, such as {@code
   * /v1/metrics}. A body that cannot be decompressed is returned as received. After {@link
   * #MAX_RETAINED_BYTES}, old bodies are dropped; check {@link #discardedBodies()}.
   */
  public List<byte[]> rawBodies() {
    return bodies.list();
  }

  /** Returns how many of the oldest bodies {@link #rawBodies()} dropped. */
  public long discardedBodies() {
    return bodies.dropped();
  }

  /** Returns the number of export calls, accepted or not. */
  public int requestCount() {
    return Math.toIntExact(calls.count());
  }

  /** Returns the protocols of the export calls: {@code "grpc"}, {@code "http"} or both. */
  public Set<String> protocols() {
    return calls.list().stream().map(Call::protocol).collect(Collectors.toCollection(TreeSet::new));
  }

  /** Removes all spans and calls; keeps the behaviour. */
  public void clear() {
    spans.clear();
    calls.clear();
    bodies.clear();
    problems.clear();
  }

  /** Closes the port and all connections; received spans stay available. */
  @Override
  public void close() {
    server.close();
  }

  private String remarks() {
    String received = "; the receiver got " + requestCount() + " export calls " + protocols();
    List<String> last = problems.list();
    return last.isEmpty()
        ? received
        : received + ", requests not accepted: " + problems.count() + " (" + last.get(0) + ")";
  }
}
