package io.inferspan.pd.upstream;

import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http2.HttpConversionUtil.ExtensionHeaderNames;
import io.netty.util.AsciiString;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Prepares headers for forwarding, mainly by removing those that apply to one hop only. */
public final class ForwardedHeaders {
  private static final AsciiString FORWARDED_FOR = AsciiString.cached("x-forwarded-for");

  private static final AsciiString REQUEST_ID = AsciiString.cached("x-request-id");
  private static final AsciiString[] ONE_HOP = {
    AsciiString.cached("keep-alive"),
    AsciiString.cached("proxy-connection"),
    AsciiString.cached("proxy-authenticate"),
    AsciiString.cached("proxy-authorization"),
    AsciiString.cached("trailer"),
    AsciiString.cached("http2-settings"),
    HttpHeaderNames.UPGRADE,
  };

  private ForwardedHeaders() {}

  /**
   * Removes hop-by-hop headers from a client's request, and adds the client's address to {@code
   * X-Forwarded-For}. Framing headers are kept.
   */
  public static void fromClient(HttpRequest request, String clientAddress) {
    HttpHeaders headers = request.headers();
    String protocol = askedProtocol(request);
    boolean trailers = headers.containsValue(HttpHeaderNames.TE, HttpHeaderValues.TRAILERS, true);
    removeOneHop(headers);
    upgrade(headers, protocol);
    headers.remove(HttpHeaderNames.TE);
    if (trailers) {
      headers.set(HttpHeaderNames.TE, HttpHeaderValues.TRAILERS);
    }
    if (headers.contains(ExtensionHeaderNames.SCHEME.text())) {
      for (ExtensionHeaderNames name : ExtensionHeaderNames.values()) {
        headers.remove(name.text());
      }
    }
    if (!clientAddress.isEmpty()) {
      String before = joined(headers);
      headers.set(FORWARDED_FOR, before == null ? clientAddress : before + ", " + clientAddress);
    }
  }

  /**
   * Returns the protocol that a request asks to upgrade to, or null.
   *
   * <p>An upgrade to HTTP/2 is never forwarded, because the client could then bypass this proxy's
   * rules.
   */
  private static @Nullable String askedProtocol(HttpRequest request) {
    HttpHeaders headers = request.headers();
    String protocol = headers.get(HttpHeaderNames.UPGRADE);
    boolean asked =
        protocol != null
            && request.method().equals(HttpMethod.GET)
            && headers.containsValue(HttpHeaderNames.CONNECTION, HttpHeaderValues.UPGRADE, true)
            && !HttpUtil.isTransferEncodingChunked(request)
            && HttpUtil.getContentLength(request, 0L) == 0
            && !headers.containsValue(HttpHeaderNames.UPGRADE, "h2c", true);
    return asked ? protocol : null;
  }

  private static void upgrade(HttpHeaders headers, @Nullable String protocol) {
    if (protocol != null) {
      headers.set(HttpHeaderNames.CONNECTION, HttpHeaderValues.UPGRADE);
      headers.set(HttpHeaderNames.UPGRADE, protocol);
    }
  }

  private static @Nullable String joined(HttpHeaders headers) {
    String first = headers.get(FORWARDED_FOR);
    return first == null ? null : String.join(", ", headers.getAll(FORWARDED_FOR));
  }

  /**
   * Returns the head of a request to an engine whose body is not the client's.
   *
   * @param added headers to add to the client's
   */
  public static HttpRequest forBody(HttpRequest client, int length, Map<String, String> added) {
    HttpHeaders headers = client.headers().copy();
    // No compressed response, because the proxy parses it.
    headers.remove(HttpHeaderNames.ACCEPT_ENCODING);
    headers.remove(HttpHeaderNames.TRANSFER_ENCODING);
    headers.remove(HttpHeaderNames.EXPECT);
    headers.set(HttpHeaderNames.CONTENT_LENGTH, length);
    added.forEach(
        (name, value) -> {
          // llm-d adds its id after the client's own; any other header replaces the client's.
          if (REQUEST_ID.contentEqualsIgnoreCase(name)) {
            headers.add(name, value);
          } else {
            headers.set(name, value);
          }
        });
    return new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, client.uri(), headers);
  }

  /** Removes hop-by-hop headers from an engine's response; framing headers are kept. */
  public static void fromEngine(HttpResponse answer) {
    HttpHeaders headers = answer.headers();
    boolean switches = answer.status().equals(HttpResponseStatus.SWITCHING_PROTOCOLS);
    String protocol = switches ? headers.get(HttpHeaderNames.UPGRADE) : null;
    removeOneHop(headers);
    upgrade(headers, protocol);
  }

  private static void removeOneHop(HttpHeaders headers) {
    if (headers.contains(HttpHeaderNames.CONNECTION)) {
      for (String value : headers.getAll(HttpHeaderNames.CONNECTION)) {
        removeNamed(headers, value);
      }
      headers.remove(HttpHeaderNames.CONNECTION);
    }
    for (AsciiString name : ONE_HOP) {
      headers.remove(name);
    }
  }

  /** Removes the headers named by a Connection header, except framing and host. */
  private static void removeNamed(HttpHeaders headers, String names) {
    for (String name : names.split(",", -1)) {
      String trimmed = name.trim();
      if (!trimmed.isEmpty()
          && !HttpHeaderNames.HOST.contentEqualsIgnoreCase(trimmed)
          && !HttpHeaderNames.CONTENT_LENGTH.contentEqualsIgnoreCase(trimmed)
          && !HttpHeaderNames.TRANSFER_ENCODING.contentEqualsIgnoreCase(trimmed)) {
        headers.remove(trimmed);
      }
    }
  }
}
