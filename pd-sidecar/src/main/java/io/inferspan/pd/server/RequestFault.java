package io.inferspan.pd.server;

import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import org.jspecify.annotations.Nullable;

/** Detects invalid requests before they are handled. */
final class RequestFault {
  private static final char DELETE = 0x7f;

  private RequestFault() {}

  /** Returns the status for rejecting {@code request}, or null if it may be served. */
  static @Nullable HttpResponseStatus of(HttpRequest request) {
    if (request.decoderResult().isFailure()) {
      return of(request.decoderResult().cause());
    }
    if (!knownVersion(request) || !oneHost(request) || !plausibleTarget(request)) {
      return HttpResponseStatus.BAD_REQUEST;
    }
    return decodable(request) ? null : HttpResponseStatus.NOT_IMPLEMENTED;
  }

  /** Returns whether the body's transfer coding is chunked, the only one a proxy must decode. */
  private static boolean decodable(HttpRequest request) {
    String coding = request.headers().get(HttpHeaderNames.TRANSFER_ENCODING);
    return coding == null || HttpHeaderValues.CHUNKED.contentEqualsIgnoreCase(coding.strip());
  }

  /** Returns the status for a request that could not be decoded. */
  static HttpResponseStatus of(Throwable cause) {
    return switch (cause) {
      case TooLongHttpLineException _ -> HttpResponseStatus.REQUEST_URI_TOO_LONG;
      case TooLongHttpHeaderException _ -> HttpResponseStatus.REQUEST_HEADER_FIELDS_TOO_LARGE;
      default -> HttpResponseStatus.BAD_REQUEST;
    };
  }

  static String sentence(HttpResponseStatus status) {
    if (status.equals(HttpResponseStatus.REQUEST_URI_TOO_LONG)) {
      return "The request's first line is too long.";
    }
    if (status.equals(HttpResponseStatus.NOT_IMPLEMENTED)) {
      return "The request's transfer coding is not supported; chunked is.";
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
