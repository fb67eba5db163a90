package io.inferspan.pd.connector.bootstrap;

import io.inferspan.pd.json.InvalidJson;
import io.inferspan.pd.json.JsonObject;
import io.inferspan.pd.json.JsonShape;
import io.inferspan.pd.json.JsonValue;
import io.inferspan.pd.relay.AnswerCollector;
import io.inferspan.pd.relay.EngineAnswer;
import io.inferspan.pd.upstream.Target;
import io.inferspan.pd.upstream.UpstreamCall;
import io.inferspan.pd.upstream.UpstreamException;
import io.inferspan.pd.upstream.Upstreams;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.concurrent.ScheduledFuture;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** One question to a bootstrap server: which engines are there. It is not traced. */
final class BootstrapQuery {
  private static final String PATH = "/query";
  private static final long MOST_BYTES = 1024 * 1024;
  private static final int MOST_RANK_DIGITS = 9;
  private static final int JSON_DEPTH = 32;

  private final Target server;
  private final Duration patience;
  private final Promise<List<BootstrapEngine>> answered = Promise.promise();

  /**
   * A question to be asked.
   *
   * @param patience how long the answer may take
   */
  BootstrapQuery(Target server, Duration patience) {
    this.server = server;
    this.patience = patience;
  }

  /** Asks; the answer has one engine or more, or fails with a sentence fit for the client. */
  Future<List<BootstrapEngine>> ask(Upstreams upstreams, EventLoop loop) {
    AnswerCollector collector = new AnswerCollector(MOST_BYTES, this::send, this::take);
    UpstreamCall call = upstreams.call(loop, server, true, collector);
    ScheduledFuture<?> timeout =
        loop.schedule(
            () -> {
              call.cancel();
              fail("did not answer in time");
            },
            patience.toMillis(),
            TimeUnit.MILLISECONDS);
    return answered.future().onComplete(_ -> timeout.cancel(false));
  }

  private void send(UpstreamCall call) {
    HttpRequest head = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, PATH);
    head.headers().set(HttpHeaderNames.HOST, server.authority());
    call.send(head);
    call.finish(EmptyHttpHeaders.INSTANCE);
    call.flush();
  }

  private void take(EngineAnswer answer) {
    UpstreamException failure = answer.failure();
    if (failure != null) {
      fail("gave no answer: " + failure.what());
    } else if (!answer.ok()) {
      fail("answered " + answer.status());
    } else {
      List<BootstrapEngine> engines = engines(answer.body());
      if (engines.isEmpty()) {
        fail("named no engine_id");
      } else {
        answered.tryComplete(engines);
      }
    }
  }

  private void fail(String how) {
    answered.tryFail("the bootstrap server " + server + " " + how);
  }

  private static List<BootstrapEngine> engines(byte[] json) {
    List<BootstrapEngine> engines = new ArrayList<>();
    try {
      JsonObject byRank = JsonObject.scan(json, JsonShape.all(), JSON_DEPTH);
      for (String rank : byRank.names()) {
        String id = engineId(byRank.value(rank));
        if (isRank(rank) && id != null) {
          engines.add(new BootstrapEngine(rank, id));
        }
      }
    } catch (InvalidJson _) {
      // no engine is named
    }
    return List.copyOf(engines);
  }

  private static @Nullable String engineId(@Nullable JsonValue engine) {
    JsonValue id = engine == null ? null : engine.member("engine_id");
    String text = id == null ? null : id.text();
    return text == null || text.isEmpty() ? null : text;
  }

  /** It becomes a header, so it must be a number. */
  private static boolean isRank(String text) {
    return !text.isEmpty()
        && text.length() <= MOST_RANK_DIGITS
        && text.chars().allMatch(c -> c >= '0' && c <= '9');
  }
}
