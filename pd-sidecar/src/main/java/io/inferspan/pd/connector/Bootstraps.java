package io.inferspan.pd.connector;

import io.inferspan.pd.json.JsonObject;
import io.inferspan.pd.json.JsonPieces;
import io.inferspan.pd.json.JsonScan;
import io.inferspan.pd.json.JsonValue;
import io.inferspan.pd.net.HeldBodies;
import io.inferspan.pd.telemetry.PdTracing;
import io.inferspan.pd.upstream.EngineAnswer;
import io.inferspan.pd.upstream.EngineCall;
import io.inferspan.pd.upstream.Target;
import io.inferspan.pd.upstream.UpstreamFailure;
import io.inferspan.pd.upstream.UpstreamFailure.Kind;
import io.inferspan.pd.upstream.Upstreams;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Looks up the engines of prefill pods at Mooncake's bootstrap servers.
 *
 * <p>The engines of up to 1,024 servers are cached. A server is queried again only after a failure,
 * after {@link #forget}, or if it was dropped from the cache. Concurrent requests share one query,
 * which is not traced.
 */
final class Bootstraps {
  private static final int MAX_SERVERS = 1024;
  private static final long MAX_BYTES = 1024 * 1024;
  private static final int MAX_RANK_DIGITS = 9;
  private static final int JSON_DEPTH = 32;

  private final Duration timeout;
  private final Map<Target, Future<List<Engine>>> known =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Target, Future<List<Engine>>> eldest) {
          return size() > MAX_SERVERS;
        }
      };

  /**
   * An engine on a prefill pod.
   *
   * @param rank its data-parallel rank, in digits
   * @param id the id by which other engines address it
   */
  record Engine(String rank, String id) {}

  /** Creates an empty cache. */
  Bootstraps(Duration timeout) {
    this.timeout = timeout;
  }

  /**
   * Returns the engines of a server, one or more. The future fails with one sentence if the server
   * does not name any.
   *
   * @param loop the caller's event loop, on which the future completes
   */
  Future<List<Engine>> engines(Target server, Upstreams upstreams, EventLoop loop) {
    Promise<List<Engine>> asking = Promise.promise();
    Future<List<Engine>> before;
    synchronized (known) {
      before = known.putIfAbsent(server, asking.future());
    }
    if (before == null) {
      asking.future().onFailure(_ -> forget(server, asking.future()));
      query(server, upstreams, loop, asking);
      return asking.future();
    }
    return onLoop(before, loop);
  }

  private void query(
      Target server, Upstreams upstreams, EventLoop loop, Promise<List<Engine>> asking) {
    HttpRequest head = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/query");
    head.headers().set(HttpHeaderNames.HOST, server.authority());
    HeldBodies bodies = new HeldBodies(2 * MAX_BYTES);
    EngineCall call =
        new EngineCall(
            head,
            new JsonPieces(),
            bodies.open(),
            MAX_BYTES,
            PdTracing.none().call("GET", server.host(), server.port()),
            answer -> {
              take(server, answer, asking);
              answer.release();
            });
    call.allowReplay();
    upstreams.start(loop, server, call);
    call.endAfter(loop, timeout);
  }

  private static void take(Target server, EngineAnswer answer, Promise<List<Engine>> asking) {
    List<Engine> engines = answer.ok() ? engines(answer.body()) : List.of();
    if (!engines.isEmpty()) {
      asking.tryComplete(engines);
    } else {
      asking.tryFail("the bootstrap server " + server + " " + problem(answer));
    }
  }

  private static String problem(EngineAnswer answer) {
    UpstreamFailure failure = answer.failure();
    if (failure != null) {
      boolean overdue = failure.kind() == Kind.OVERDUE;
      return overdue ? "did not answer in time" : "gave no answer: " + failure.what();
    }
    return answer.ok() ? "named no engine_id" : "answered " + answer.status();
  }

  private static List<Engine> engines(byte[] json) {
    List<Engine> engines = new ArrayList<>();
    JsonObject byRank = JsonScan.of(json, JSON_DEPTH).object();
    if (byRank != null) {
      byRank
          .toMap()
          .forEach(
              (rank, engine) -> {
                String id = engineId(engine);
                if (isRank(rank) && id != null) {
                  engines.add(new Engine(rank, id));
                }
              });
    }
    return List.copyOf(engines);
  }

  private static @Nullable String engineId(JsonValue engine) {
    JsonValue id = engine.member("engine_id");
    String text = id == null ? null : id.text();
    return text == null || text.isEmpty() ? null : text;
  }

  /** Returns whether the text is a number; it is sent as a header, so nothing else is allowed. */
  private static boolean isRank(String text) {
    return !text.isEmpty()
        && text.length() <= MAX_RANK_DIGITS
        && text.chars().allMatch(c -> c >= '0' && c <= '9');
  }

  /** Moves the result to this loop, because it may arrive on the loop of another request. */
  private static Future<List<Engine>> onLoop(Future<List<Engine>> answer, EventLoop loop) {
    Promise<List<Engine>> here = Promise.promise();
    answer.onComplete(
        result -> {
          if (loop.inEventLoop()) {
            here.handle(result);
          } else {
            loop.execute(() -> here.handle(result));
          }
        });
    return here.future();
  }

  private void forget(Target server, Future<List<Engine>> answer) {
    synchronized (known) {
      known.remove(server, answer);
    }
  }

  /** Removes a server from the cache, because its engines may have changed. */
  void forget(Target server) {
    synchronized (known) {
      known.remove(server);
    }
  }
}
