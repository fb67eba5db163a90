package io.inferspan.pd.upstream;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.inferspan.pd.json.JsonWriter;
import io.inferspan.pd.net.HeldBody;
import io.inferspan.pd.upstream.UpstreamFailure.Kind;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A complete response of an engine, or a response of the proxy itself in its place.
 *
 * @param status the HTTP status; 502, 503 or 504 if the engine gave no answer
 * @param headers the headers, without hop-by-hop headers
 * @param held the holder of the body; null for a response of the proxy itself
 * @param own the body of a response of the proxy itself
 * @param failure why the engine gave no response, if this response comes from {@link #none}; else
 *     null
 */
public record EngineAnswer(
    int status,
    HttpHeaders headers,
    @Nullable HeldBody held,
    String own,
    @Nullable UpstreamFailure failure) {
  private static final int FIRST_SUCCESS = 200;
  private static final int FIRST_BEYOND = 300;
  private static final int RETRY_SECONDS = 1;
  private static final String NOT_READY =
      "The decode node is not ready. Please check that the vLLM service is running and the port"
          + " configuration is correct.";

  /** Returns an engine's response; {@link #heldBy} or {@link #release} must release its body. */
  public static EngineAnswer of(int status, HttpHeaders headers, HeldBody body) {
    return new EngineAnswer(status, headers, body, "", null);
  }

  public static EngineAnswer own(HttpResponseStatus status, HttpHeaders headers, String body) {
    return new EngineAnswer(status.code(), headers, null, body, null);
  }

  public static EngineAnswer empty(HttpResponseStatus status) {
    return own(status, new DefaultHttpHeaders(), "");
  }

  public static EngineAnswer text(HttpResponseStatus status, String text) {
    return own(status, plainText(), text);
  }

  /** Returns an error in the format of the engines' own errors. */
  public static EngineAnswer error(HttpResponseStatus status, String text) {
    return error(status, plainText(), text, null);
  }

  /** Returns a response that asks the client to retry, because the proxy has no room now. */
  public static EngineAnswer busy(String text, @Nullable UpstreamFailure failure) {
    HttpHeaders headers = plainText().set(HttpHeaderNames.RETRY_AFTER, RETRY_SECONDS);
    return error(HttpResponseStatus.SERVICE_UNAVAILABLE, headers, text, failure);
  }

  public static EngineAnswer badRequest(String text) {
    return error(HttpResponseStatus.BAD_REQUEST, text);
  }

  public static EngineAnswer internalError(String text) {
    return error(HttpResponseStatus.INTERNAL_SERVER_ERROR, text);
  }

  public static EngineAnswer badGateway(String text) {
    return error(HttpResponseStatus.BAD_GATEWAY, text);
  }

  /** Returns the error response to the client if an engine did not respond. */
  public static EngineAnswer none(UpstreamFailure failure) {
    return switch (failure.kind()) {
      case NO_ROOM, STALE -> busy(failure.what(), failure);
      case OVERDUE ->
          error(HttpResponseStatus.GATEWAY_TIMEOUT, plainText(), failure.what(), failure);
      case REFUSED, UNREACHABLE, RESET, GARBAGE, SHUTDOWN, INTERNAL ->
          new EngineAnswer(
              HttpResponseStatus.BAD_GATEWAY.code(), new DefaultHttpHeaders(), null, "", failure);
    };
  }

  /** Returns the error response to the client if the local decoder did not respond. */
  public static EngineAnswer noDecoder(UpstreamFailure failure) {
    if (failure.kind() == Kind.REFUSED) {
      return error(HttpResponseStatus.SERVICE_UNAVAILABLE, NOT_READY);
    }
    boolean retry = failure.kind() == Kind.NO_ROOM || failure.kind() == Kind.STALE;
    return retry ? busy(failure.what(), null) : badGateway(failure.what());
  }

  private static EngineAnswer error(
      HttpResponseStatus status,
      HttpHeaders headers,
      String text,
      @Nullable UpstreamFailure failure) {
    // Engines use the status's reason phrase as the type, except for status 400.
    boolean badRequest = status.equals(HttpResponseStatus.BAD_REQUEST);
    String type = badRequest ? "BadRequestError" : status.reasonPhrase().replace(" ", "");
    String body =
        new JsonWriter()
            .beginObject()
            .member("object", "error")
            .member("message", text)
            .member("type", type)
            .member("param", "")
            .member("code", status.code())
            .endObject()
            .toString();
    return new EngineAnswer(status.code(), headers, null, body, failure);
  }

  public static HttpHeaders plainText() {
    return new DefaultHttpHeaders().set(HttpHeaderNames.CONTENT_TYPE, "text/plain; charset=utf-8");
  }

  public EngineAnswer with(HttpHeaders others) {
    return new EngineAnswer(status, others, held, own, failure);
  }

  /** Returns the body of a response that an engine gave. */
  public HeldBody received() {
    return Objects.requireNonNull(held, "this is a response of the proxy itself");
  }

  public byte[] body() {
    return held == null ? own.getBytes(UTF_8) : held.join();
  }

  /** Returns the body as a buffer, which the receiver must release. */
  public ByteBuf content() {
    return held == null ? Unpooled.wrappedBuffer(body()) : held.toBuffer();
  }

  /** Returns the {@code error.type} of an unsuccessful response. */
  public String errorType() {
    return failure == null ? Integer.toString(status) : failure.type();
  }

  public boolean ok() {
    return status >= FIRST_SUCCESS && status < FIRST_BEYOND;
  }

  /**
   * Keeps the body until {@code other} is released, because JSON that was read from the response
   * refers to the body's bytes. If {@code other} is null, releases the body at once.
   */
  public EngineAnswer heldBy(@Nullable HeldBody other) {
    if (held != null && other != null) {
      other.adopt(held);
    } else {
      release();
    }
    return this;
  }

  public void release() {
    if (held != null) {
      held.release();
    }
  }
}
