package io.inferspan.pd.relay;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.inferspan.pd.json.JsonWriter;
import io.inferspan.pd.server.ClientExchange;
import io.inferspan.pd.upstream.UpstreamException;
import io.inferspan.pd.upstream.UpstreamException.Kind;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;

/** The answers that the proxy itself gives when something is wrong, as llm-d words them. */
public final class Errors {
  private static final String NOT_READY =
      "The decode node is not ready. Please check that the vLLM service is running and the port"
          + " configuration is correct.";

  private static final int RETRY_SECONDS = 1;

  private Errors() {}

  /** An error in the shape of the engines' own. */
  public static void json(
      ClientExchange exchange, HttpResponseStatus status, String type, String text) {
    json(exchange, status, type, text, plainText());
  }

  /** The proxy has no room for a request now; in a moment it may. */
  public static void busy(ClientExchange exchange, String text) {
    HttpHeaders headers = plainText().set(HttpHeaderNames.RETRY_AFTER, RETRY_SECONDS);
    json(exchange, HttpResponseStatus.SERVICE_UNAVAILABLE, "ServiceUnavailable", text, headers);
  }

  private static void json(
      ClientExchange exchange,
      HttpResponseStatus status,
      String type,
      String text,
      HttpHeaders headers) {
    byte[] body =
        new JsonWriter()
            .beginObject()
            .name("object")
            .text("error")
            .name("message")
            .text(text)
            .name("type")
            .text(type)
            .name("param")
            .text("")
            .name("code")
            .number(status.code())
            .endObject()
            .toBytes();
    exchange.respond(status, headers, Unpooled.wrappedBuffer(body));
  }

  public static void badRequest(ClientExchange exchange, String text) {
    json(exchange, HttpResponseStatus.BAD_REQUEST, "BadRequestError", text);
  }

  public static void badGateway(ClientExchange exchange, String text) {
    json(exchange, HttpResponseStatus.BAD_GATEWAY, "BadGateway", text);
  }

  /** The local decoder gave no answer. */
  public static int decoderFailed(ClientExchange exchange, UpstreamException failure) {
    if (failure.kind() == Kind.REFUSED) {
      json(exchange, HttpResponseStatus.SERVICE_UNAVAILABLE, "ServiceUnavailable", NOT_READY);
      return HttpResponseStatus.SERVICE_UNAVAILABLE.code();
    }
    badGateway(exchange, failure.what());
    return HttpResponseStatus.BAD_GATEWAY.code();
  }

  public static void text(ClientExchange exchange, HttpResponseStatus status, String text) {
    exchange.respond(status, plainText(), Unpooled.wrappedBuffer(text.getBytes(UTF_8)));
  }

  public static void empty(ClientExchange exchange, HttpResponseStatus status) {
    exchange.respond(status, new DefaultHttpHeaders(), Unpooled.EMPTY_BUFFER);
  }

  private static HttpHeaders plainText() {
    return new DefaultHttpHeaders().set(HttpHeaderNames.CONTENT_TYPE, "text/plain; charset=utf-8");
  }
}
