package io.inferspan.pd.upstream;

import io.inferspan.pd.json.JsonPieces;
import io.inferspan.pd.net.HeldBodies;
import io.inferspan.pd.telemetry.PdTracing;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import java.util.function.Consumer;

/** A call without a body. */
final class Get {
  private static final int LIMIT = 1024;

  private Get() {}

  static EngineCall of(Target target, Consumer<EngineAnswer> next) {
    HttpRequest head = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/");
    return new EngineCall(
        head,
        new JsonPieces(),
        new HeldBodies(LIMIT).open(),
        LIMIT,
        PdTracing.none().call("GET", target.host(), target.port()),
        next);
  }
}
