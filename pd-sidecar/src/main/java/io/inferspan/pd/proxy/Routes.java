package io.inferspan.pd.proxy;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.inferspan.pd.telemetry.Api;
import io.netty.handler.codec.http.HttpMethod;
import java.util.HexFormat;
import java.util.Set;

/** Classifies requests by method and path: route, API, and whether they are traced. */
final class Routes {
  private static final Set<String> UNTRACED =
      Set.of("/health", "/healthz", "/livez", "/readyz", "/ping", "/metrics");

  private static final HexFormat HEX = HexFormat.of().withUpperCase();
  private static final int FIRST_NON_ASCII = 0x80;
  private static final String OTHER = "_OTHER";
  private static final String MODELS = "/v1/models/";
  private static final String RESPONSES = "/v1/responses/";
  private static final String CANCEL = "/cancel";

  /** The fixed paths of vLLM and SGLang. */
  private static final Set<String> KNOWN =
      Set.of(
          ("/v1/chat/completions /v1/chat/completions/render /v1/completions "
                  + "/v1/completions/render /v1/messages /v1/messages/count_tokens "
                  + "/v1/responses /inference/v1/generate /generate /v1/models "
                  + "/v1/embeddings /v1/audio/transcriptions /v1/audio/translations "
                  + "/v1/score /v1/rerank /v2/rerank /score /rerank /classify /pooling "
                  + "/tokenize /detokenize /invocations /version /load /server_info "
                  + "/get_model_info /get_server_info /v1/load_lora_adapter "
                  + "/v1/unload_lora_adapter /reset_prefix_cache /flush_cache /sleep "
                  + "/wake_up /is_sleeping /openapi.json /docs /health /healthz /livez "
                  + "/readyz /ping /metrics")
              .split(" "));

  private Routes() {}

  /**
   * Returns the route for spans: a known path, a template, or {@code _OTHER}; empty for {@code
   * CONNECT}.
   */
  static String template(String path) {
    if (path.isEmpty() || KNOWN.contains(path)) {
      return path;
    }
    // A model name may contain slashes.
    if (path.startsWith(MODELS) && path.length() > MODELS.length()) {
      return MODELS + "{model}";
    }
    return path.startsWith(RESPONSES) ? response(path.substring(RESPONSES.length())) : OTHER;
  }

  private static String response(String rest) {
    int slash = rest.indexOf('/');
    String below = slash < 0 ? "" : rest.substring(slash);
    boolean named = slash != 0 && !rest.isEmpty();
    return named && (below.isEmpty() || below.equals(CANCEL)) ? RESPONSES + "{id}" + below : OTHER;
  }

  /** Returns the request target in origin form: without scheme and host. */
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

  /** Returns the request target with percent-encoded bytes instead of those that are not ASCII. */
  static String encoded(String uri) {
    if (uri.chars().allMatch(c -> c < FIRST_NON_ASCII)) {
      return uri;
    }
    StringBuilder ascii = new StringBuilder();
    for (byte b : uri.getBytes(ISO_8859_1)) {
      ascii.append(b < 0 ? "%" + HEX.toHexDigits(b) : String.valueOf((char) b));
    }
    return ascii.toString();
  }

  /** Returns the path of the request target, without the query. */
  static String path(String uri) {
    int query = uri.indexOf('?');
    return query < 0 ? uri : uri.substring(0, query);
  }

  /** Returns whether the request is a health check, which the proxy answers without the decoder. */
  static boolean isHealth(HttpMethod method, String path) {
    return path.equals("/health") && isRead(method);
  }

  /** Returns whether the request is a probe or scrape, which has no span. */
  static boolean isUntraced(HttpMethod method, String path) {
    return isRead(method) && UNTRACED.contains(path);
  }

  private static boolean isRead(HttpMethod method) {
    return method.equals(HttpMethod.GET) || method.equals(HttpMethod.HEAD);
  }

  /** Returns the called API. */
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
