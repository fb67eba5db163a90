package io.inferspan.testing.engine;

import io.inferspan.testing.engine.RequestReader.Call;
import io.vertx.core.http.HttpServerRequest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A request that a {@link FakeEngine} received completely, and its outcome. */
public final class EngineRequest {
  /** The role of the engine in a request, determined by its {@code kv_transfer_params}. */
  public enum Role {
    /** Prefill for another engine ({@code do_remote_decode} or {@code remote_decoder}). */
    PREFILL,
    /**
     * Decode after another engine's prefill ({@code do_remote_prefill} or {@code
     * remote_prefiller}).
     */
    DECODE,
    /** Prefill and decode: the request names no other engine. */
    WHOLE,
    /** Not an inference request, such as a health check. */
    NONE
  }

  /** The outcome of a request. */
  public enum Outcome {
    /** The response is not complete yet. */
    RUNNING,
    /** The whole response was written; it may be an error. */
    ANSWERED,
    /** The engine closed the connection, because of its script or because it was closed. */
    CUT,
    /** The client disconnected before the end. */
    CLIENT_GONE
  }

  /** The arrival time of a request on both clocks. */
  record Arrival(long nanos, long epochNanos) {
    static Arrival now() {
      Instant instant = Instant.now();
      return new Arrival(
          System.nanoTime(),
          TimeUnit.SECONDS.toNanos(instant.getEpochSecond()) + instant.getNano());
    }
  }

  private final String method;
  private final String path;
  private final @Nullable String query;
  private final Map<String, List<String>> headers;
  private final byte[] body;
  private final Arrival arrival;
  private final @Nullable Call call;
  private final CountDownLatch ended = new CountDownLatch(1);
  private volatile Outcome outcome = Outcome.RUNNING;

  EngineRequest(HttpServerRequest http, byte[] body, Arrival arrival, @Nullable Call call) {
    this.method = http.method().name();
    this.path = EngineHttp.pathOf(http);
    this.query = http.query();
    this.headers = copyOf(http.headers());
    this.body = body;
    this.arrival = arrival;
    this.call = call;
  }

  /** Returns the HTTP method, in upper case. */
  public String method() {
    return method;
  }

  /** Returns the path without the query, as sent. */
  public String path() {
    return path;
  }

  /** Returns the query without the question mark; null if there is none. */
  public @Nullable String query() {
    return query;
  }

  /** Returns all headers with their values in order; names are case-insensitive. */
  public Map<String, List<String>> headers() {
    return headers;
  }

  /** Returns all values of a header in order; empty if it was not sent. */
  public List<String> headers(String name) {
    return headers.getOrDefault(name, List.of());
  }

  /** Returns the first value of a header; null if it was not sent. */
  public @Nullable String header(String name) {
    List<String> values = headers(name);
    return values.isEmpty() ? null : values.get(0);
  }

  /** Returns a copy of the body. */
  public byte[] body() {
    return body.clone();
  }

  /** Returns the body decoded as UTF-8. */
  public String bodyText() {
    return new String(body, StandardCharsets.UTF_8);
  }

  /** Returns the arrival time of the head, on the scale of {@link System#nanoTime()}. */
  public long arrivalNanos() {
    return arrival.nanos();
  }

  /** Returns the arrival time of the head, in nanoseconds since 1970. */
  public long arrivalEpochNanos() {
    return arrival.epochNanos();
  }

  /** Returns the role that the request gives the engine. */
  public Role role() {
    return call == null ? Role.NONE : call.role();
  }

  /**
   * Returns the body's {@code kv_transfer_params} exactly as sent, which may be "null"; null if it
   * has none.
   */
  public @Nullable String kvTransferParams() {
    return call == null ? null : call.kvTransferParams();
  }

  /** Returns the outcome so far. */
  public Outcome outcome() {
    return outcome;
  }

  /** Returns whether the client disconnected before the end. */
  public boolean clientGone() {
    return outcome == Outcome.CLIENT_GONE;
  }

  /**
   * Waits until the request has ended.
   *
   * @throws AssertionError if it has not ended within {@code limit}
   */
  public Outcome awaitEnd(Duration limit) {
    try {
      if (!ended.await(limit.toNanos(), TimeUnit.NANOSECONDS)) {
        throw new AssertionError(this + " had not ended within " + limit);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for the end of " + this, e);
    }
    return outcome;
  }

  @Override
  public String toString() {
    return method + " " + path + " (" + role() + ", " + body.length + " bytes, " + outcome + ")";
  }

  /** Sets the outcome; called once, on the engine's thread. */
  void end(Outcome how) {
    outcome = how;
    ended.countDown();
  }

  int bodyLength() {
    return body.length;
  }

  private static Map<String, List<String>> copyOf(Iterable<Map.Entry<String, String>> source) {
    Map<String, List<String>> copy = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    for (Map.Entry<String, String> header : source) {
      copy.computeIfAbsent(header.getKey(), name -> new ArrayList<>(1)).add(header.getValue());
    }
    copy.replaceAll((name, values) -> Collections.unmodifiableList(values));
    return Collections.unmodifiableMap(copy);
  }
}
