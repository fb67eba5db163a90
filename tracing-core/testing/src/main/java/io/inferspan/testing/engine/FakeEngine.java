package io.inferspan.testing.engine;

import io.inferspan.testing.engine.Generation.Load;
import io.inferspan.testing.server.Arrivals;
import io.inferspan.testing.server.LoopbackServer;
import io.opentelemetry.api.OpenTelemetry;
import io.vertx.core.http.HttpServerOptions;
import java.net.URI;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * An inference engine that follows an {@link EngineScript}: an HTTP/1.1 server on a real socket
 * that implements the OpenAI chat, completions and responses APIs, the Anthropic messages API and
 * vLLM's generate API, streamed or not. It acts as a prefill or decode engine, records its
 * requests, and creates vLLM's {@code llm_request} span if it has an OpenTelemetry instance.
 *
 * <p>Each word of a prompt is one token; an integer in a list of token ids is one token. {@code n}
 * is recorded on the span and otherwise ignored. Any model name is accepted.
 *
 * <p>Like vLLM, it rejects with 400: a body that is not a JSON object, {@code max_tokens} below 1,
 * {@code min_tokens} above the limit, {@code stream_options} without {@code stream}. If the share
 * of cached prompt tokens is below the request's {@code cache_hit_threshold}, the response has no
 * tokens and the finish reason {@code cache_threshold}.
 *
 * <p>It also serves {@code GET /health}, {@code /version}, {@code /v1/models} and {@code /metrics},
 * and {@code /query} of Mooncake's bootstrap server. Of these pages, the script affects only the
 * name of the model.
 */
public final class FakeEngine implements AutoCloseable {
  /** The maximum number of requests that {@link #requests()} keeps; older ones are dropped. */
  public static final int MAX_KEPT_REQUESTS = 4096;

  /** The maximum total size of the bodies that {@link #requests()} keeps, in bytes. */
  public static final long MAX_KEPT_BYTES = 64L << 20;

  private static final int MAX_HEADER_BYTES = 64 << 10;

  final LoopbackServer server;
  final EngineSpan span;
  final Load load = new Load();
  private final String host;
  private final String engineId = UUID.randomUUID().toString();
  final Arrivals<EngineRequest> log =
      new Arrivals<>(MAX_KEPT_REQUESTS, MAX_KEPT_BYTES, EngineRequest::bodyLength);
  private final Queue<EngineScript> queued = new ConcurrentLinkedQueue<>();
  private final @Nullable Function<EngineRequest, EngineScript> scripts;
  private volatile EngineScript script;

  private FakeEngine(Builder builder) {
    host = builder.host;
    script = builder.script;
    scripts = builder.scripts;
    server = new LoopbackServer("FakeEngine", serverOptions());
    span = new EngineSpan(builder.openTelemetry);
    server.listen(host, builder.port, new EngineHttp(this));
  }

  /**
   * Starts an engine on a free loopback port with {@link EngineScript#normal()}, without tracing.
   */
  public static FakeEngine start() {
    return builder().start();
  }

  /** Returns a builder for an engine with a script, an address or tracing. */
  public static Builder builder() {
    return new Builder();
  }

  /** Returns the host that the engine is bound to, as given. */
  public String host() {
    return host;
  }

  /** Returns the port. */
  public int port() {
    return server.port();
  }

  /** Returns "host:port", as in routing headers. */
  public String authority() {
    return (host.contains(":") ? "[" + host + "]" : host) + ":" + port();
  }

  /** Returns the URI of a path on this engine. */
  public URI uri(String path) {
    return URI.create("http://" + authority() + path);
  }

  /** Returns the engine's id, the {@code remote_engine_id} in its prefill responses. */
  public String engineId() {
    return engineId;
  }

  /** Returns the script for requests without a queued one. */
  public EngineScript script() {
    return script;
  }

  /** Sets the script for new requests; running ones keep theirs. */
  public void script(EngineScript next) {
    script = next;
  }

  /**
   * Queues scripts for the next inference requests, one each, in order; then {@link #script()}
   * applies again.
   */
  public void enqueue(EngineScript... next) {
    Collections.addAll(queued, next);
  }

  /** Returns the newest complete requests, oldest first, at most {@link #MAX_KEPT_REQUESTS}. */
  public List<EngineRequest> requests() {
    return log.list();
  }

  /** Returns the number of complete requests, including dropped ones. */
  public long requestCount() {
    return log.count();
  }

  /**
   * Waits until this many requests were received since the start or the last {@link
   * #clearRequests()}, and returns the stored ones.
   *
   * @throws AssertionError if they are not received within {@code limit}
   */
  public List<EngineRequest> awaitRequests(long count, Duration limit) {
    log.await(
        () -> log.count() >= count,
        limit,
        () ->
            "the engine received %d of %d requests within %s: %s"
                .formatted(log.count(), count, limit, log.list()));
    return log.list();
  }

  /** Removes all requests and resets the count. */
  public void clearRequests() {
    log.clear();
  }

  /**
   * Closes all connections and stops listening. Does not close the OpenTelemetry instance, which
   * the caller owns.
   */
  @Override
  public void close() {
    server.close();
  }

  EngineScript nextScript(EngineRequest request) {
    EngineScript next = queued.poll();
    if (next != null) {
      return next;
    }
    return scripts == null ? script : scripts.apply(request);
  }

  private static HttpServerOptions serverOptions() {
    return new HttpServerOptions()
        .setHttp2ClearTextEnabled(false)
        .setHandle100ContinueAutomatically(true)
        .setMaxHeaderSize(MAX_HEADER_BYTES)
        .setMaxInitialLineLength(MAX_HEADER_BYTES);
  }

  /** Builder for {@link FakeEngine}. */
  public static final class Builder {
    private static final int MAX_PORT = 65_535;

    private String host = "127.0.0.1";
    private int port;
    private EngineScript script = EngineScript.normal();
    private @Nullable Function<EngineRequest, EngineScript> scripts;
    private OpenTelemetry openTelemetry = OpenTelemetry.noop();

    private Builder() {}

    /** Sets the address to bind to; loopback by default. */
    public Builder host(String address) {
      host = address;
      return this;
    }

    /** Sets the port; 0, the default, selects a free port. */
    public Builder port(int number) {
      if (number < 0 || number > MAX_PORT) {
        throw new IllegalArgumentException("port must be 0 to " + MAX_PORT + ", was " + number);
      }
      port = number;
      return this;
    }

    /** Sets the initial script. */
    public Builder script(EngineScript first) {
      script = first;
      return this;
    }

    /**
     * Sets a function that chooses the script of each inference request without a queued script,
     * instead of {@link #script}. It is called on the engine's thread before the request is logged.
     */
    public Builder scripts(Function<EngineRequest, EngineScript> choice) {
      scripts = choice;
      return this;
    }

    /** Sets the destination of the engine's spans; none are recorded by default. */
    public Builder openTelemetry(OpenTelemetry telemetry) {
      openTelemetry = telemetry;
      return this;
    }

    /** Starts the engine; it listens when this returns. */
    public FakeEngine start() {
      return new FakeEngine(this);
    }
  }
}
