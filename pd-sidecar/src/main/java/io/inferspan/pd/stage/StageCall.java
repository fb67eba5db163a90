package io.inferspan.pd.stage;

import io.inferspan.pd.server.ClientExchange;
import io.inferspan.pd.upstream.UpstreamCall;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.util.AsciiString;
import java.util.Map;

/** Writes the request of a stage: the client's, with another body and more headers. */
final class StageCall {

  private static final AsciiString REQUEST_ID = AsciiString.cached("x-request-id");

  private StageCall() {}

  static HttpRequest head(ClientExchange exchange, StageBody body, Map<String, String> added) {
    HttpRequest request = exchange.request();
    HttpHeaders headers = request.headers().copy();
    // What comes back is looked into.
    headers.remove(HttpHeaderNames.ACCEPT_ENCODING);
    headers.remove(HttpHeaderNames.TRANSFER_ENCODING);
    headers.remove(HttpHeaderNames.EXPECT);
    headers.set(HttpHeaderNames.CONTENT_LENGTH, body.length());
    added.forEach((name, value) -> add(headers, name, value));
    return new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, request.uri(), headers);
  }

  /** llm-d puts its id behind the client's own; anything else takes the place of the client's. */
  private static void add(HttpHeaders headers, String name, String value) {
    if (REQUEST_ID.contentEqualsIgnoreCase(name)) {
      headers.add(name, value);
    } else {
      headers.set(name, value);
    }
  }

  static void write(UpstreamCall call, HttpRequest head, StageBody body) {
    // Each transport copies what is not in direct memory into it, all at once and at the same cost.
    ByteBuf bytes = PooledByteBufAllocator.DEFAULT.directBuffer(body.length());
    body.writeTo(bytes);
    call.send(head);
    call.write(bytes);
    call.finish(EmptyHttpHeaders.INSTANCE);
    call.flush();
  }
}
