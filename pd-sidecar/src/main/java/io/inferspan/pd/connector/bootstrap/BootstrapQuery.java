package io.inferspan.pd.connector.bootstrap;

import io.inferspan.pd.json.JsonObject;
import io.inferspan.pd.json.JsonScan;
import io.inferspan.pd.json.JsonShape;
import io.inferspan.pd.json.JsonValue;
import io.inferspan.pd.memory.HeldBodies;
import io.inferspan.pd.relay.AnswerCollector;
import io.inferspan.pd.relay.EngineAnswer;
import io.inferspan.pd.upstream.Target;
import io.inferspan.pd.upstream.UpstreamException;
import io.inferspan.pd.upstream.UpstreamException.Kind;
import io.inferspan.pd.upstream.Upstreams;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A query of a bootstrap server for the engines that run there. It is not traced. */
final class BootstrapQuery extends AnswerCollector {
  private static final String PATH = "/query";
  private static final long MOST_BYTES = 1024 * 1024;
  private static final int MOST_RANK_DIGITS = 9;
  private static final int JSON_DEPTH = 32;

  private final Target server;
  private final Promise<List<BootstrapEngine>> answered = Promise.promise();

  BootstrapQuery(Target server) {
    super(new HeldBodies(2 * MOST_BYTES).open(), MOST_BYTES, true);
    this.server = server;
  }

  /**
   * Asks; the answer has one engine or more, or fails with a sentence fit for the client.
   *
   * @param patience how long the answer may take
   */
  Future<List<BootstrapEngine>> ask(Upstreams upstreams, EventLoop loop, Duration patience) {
    upstreams.start(loop, server, this);
    endAfter(loop, patience);
    return answered.future();
  }

  @Override
  protected void connected() {
    HttpRequest head = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, PATH);
    head.headers().set(HttpHeaderNames.HOST, server.authority());
    send(head);
    finish(EmptyHttpHeaders.INSTANCE);
    flush();
  }

  @Override
  protected void take(EngineAnswer answer) {
    UpstreamException failure = answer.failure();
    if (failure != null && failure.kind() == Kind.OVERDUE) {
      fail("did not answer in time");
    } else if (failure != null) {
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
    answer.release();
  }

  private void fail(String how) {
    answered.tryFail("the bootstrap server " + server + " " + how);
  }

  private static List<BootstrapEngine> engines(byte[] json) {
    List<BootstrapEngine> engines = new ArrayList<>();
    JsonObject byRank = JsonScan.of(json, JsonShape.all(), JSON_DEPTH).object();
    if (byRank == null) {
      return List.of();
    }
    for (String rank : byRank.names()) {
      String id = engineId(byRank.value(rank));
      if (isRank(rank) && id != null) {
        engines.add(new BootstrapEngine(rank, id));
      }
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
