package io.inferspan.pd.server;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import org.jspecify.annotations.Nullable;

/** Finds what is wrong with a request before anybody acts on it. */
final class RequestFault {
  private static final char DELETE = 0x7f;

  private RequestFault() {}

  /** The status to refuse {@code request} with, or null where it may be served. */
  static @Nullable HttpResponseStatus of(HttpRequest request) {
    if (request.decoderResult().isFailure()) {
      return of(request.decoderResult().cause());
    }
    return knownVersion(request) && oneHost(request) && plausibleTarget(request)
        ? null
        : HttpResponseStatus.BAD_REQUEST;
  }

  /** The status that says what was wrong with what could not be decoded. */
  static HttpResponseStatus of(Throwable cause) {
    return switch (cause) {
      case TooLongHttpLineException _ -> HttpResponseStatus.REQUEST_URI_TOO_LONG;
      case TooLongHttpHeaderException _ -> HttpResponseStatus.REQUEST_HEADER_FIELDS_TOO_LARGE;
      default -> HttpResponseStatus.BAD_REQUEST;
    };
  }

  /** What a client is told of it, in one sentence. */
  static String sentence(HttpResponseStatus status) {
    if (status.equals(HttpResponseStatus.REQUEST_URI_TOO_LONG)) {
      return "The request's first line is too long.";
    }
    return status.equals(HttpResponseStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        ? "The request's headers are larger than allowed (--max-header-bytes)."
        : "The request is not well-formed HTTP.";
  }

  private static boolean knownVersion(HttpRequest request) {
    HttpVersion version = request.protocolVersion();
    return version.equals(HttpVersion.HTTP_1_1) || version.equals(HttpVersion.HTTP_1_0);
  }

  private static boolean oneHost(HttpRequest request) {
    int hosts = request.headers().getAll(HttpHeaderNames.HOST).size();
    return hosts == 1 || (hosts == 0 && request.protocolVersion().equals(HttpVersion.HTTP_1_0));
  }

  private static boolean plausibleTarget(HttpRequest request) {
    String target = request.uri();
    for (int i = 0; i < target.length(); i++) {
      if (target.charAt(i) <= ' ' || target.charAt(i) == DELETE) {
        return false;
      }
    }
    return target.startsWith("/")
        || target.contains("://")
        || request.method().equals(HttpMethod.CONNECT)
        || (target.equals("*") && request.method().equals(HttpMethod.OPTIONS));
  }
}
