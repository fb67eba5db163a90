package io.inferspan.pd.proxy;

import io.inferspan.pd.metrics.Api;
import io.netty.handler.codec.http.HttpMethod;
import java.util.Set;

/** What a method and a path ask for. */
final class Routes {
  private static final Set<String> UNTRACED =
      Set.of("/health", "/healthz", "/livez", "/readyz", "/ping", "/metrics");

  private Routes() {}

  /** A request's target without the scheme and the host, which only a forward proxy needs. */
  static String originForm(String uri) {
    int scheme = uri.startsWith("/") ? -1 : uri.indexOf("://");
    if (scheme < 0) {
      return uri;
    }
    int rest = scheme + "://".length();
    while (rest < uri.length() && uri.charAt(rest) != '/' && uri.charAt(rest) != '?') {
      rest++;
    }
    return uri.startsWith("/", rest) ? uri.substring(rest) : '/' + uri.substring(rest);
  }

  /** The path of a request's target, without the query. */
  static String path(String uri) {
    int query = uri.indexOf('?');
    return query < 0 ? uri : uri.substring(0, query);
  }

  /** Whether the proxy answers itself that it is alive; it does not ask the decoder. */
  static boolean isHealth(HttpMethod method, String path) {
    return path.equals("/health") && isRead(method);
  }

  /** Whether it is asked again and again by machines, so that a span would only be in the way. */
  static boolean isUntraced(HttpMethod method, String path) {
    return isRead(method) && UNTRACED.contains(path);
  }

  private static boolean isRead(HttpMethod method) {
    return method.equals(HttpMethod.GET) || method.equals(HttpMethod.HEAD);
  }

  /** The API that is called; other requests than its {@code POST} pass. */
  static Api api(HttpMethod method, String path) {
    if (!method.equals(HttpMethod.POST)) {
      return Api.PASSTHROUGH;
    }
    return switch (path) {
      case "/v1/chat/completions", "/v1/completions", "/v1/messages" -> Api.CHAT_COMPLETIONS;
      case "/v1/responses" -> Api.RESPONSES;
      case "/inference/v1/generate" -> Api.GENERATE;
      default -> Api.PASSTHROUGH;
    };
  }
}
