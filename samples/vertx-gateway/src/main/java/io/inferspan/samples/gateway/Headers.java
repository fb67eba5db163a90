package io.inferspan.samples.gateway;

import io.inferspan.epp.PreRequest;
import io.inferspan.epp.plugins.disagg.DisaggHeaders;
import io.vertx.core.MultiMap;
import io.vertx.core.http.HttpHeaders;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The headers that a gateway forwards. */
final class Headers {

  /** Headers that are not forwarded: hop-by-hop headers, and headers that the gateway sets. */
  private static final Set<String> NOT_FORWARDED =
      Set.of(
          "connection",
          "content-length",
          "expect",
          "host",
          "http2-settings",
          "keep-alive",
          "proxy-authenticate",
          "proxy-authorization",
          "proxy-connection",
          "te",
          "trailer",
          "transfer-encoding",
          "upgrade");

  private Headers() {}

  /**
   * Returns the request headers to forward, without hop-by-hop headers and the client's routing
   * headers.
   */
  static MultiMap toEngine(MultiMap received) {
    MultiMap forwarded = MultiMap.caseInsensitiveMultiMap();
    copy(received, forwarded);
    DisaggHeaders.ROUTING.forEach(forwarded::remove);
    return forwarded;
  }

  /** Copies the response headers to forward, with the content length if it is known. */
  static void toClient(MultiMap received, MultiMap forwarded) {
    copy(received, forwarded);
    String length = received.get(HttpHeaders.CONTENT_LENGTH);
    if (length != null) {
      forwarded.set(HttpHeaders.CONTENT_LENGTH, length);
    }
  }

  private static void copy(MultiMap from, MultiMap to) {
    String connection = from.get(HttpHeaders.CONNECTION);
    from.forEach(
        (name, value) -> {
          String lower = name.toLowerCase(Locale.ROOT);
          if (!NOT_FORWARDED.contains(lower) && !lists(connection, lower)) {
            to.add(name, value);
          }
        });
  }

  /** Returns whether {@code Connection} lists a header. */
  private static boolean lists(@Nullable String connection, String name) {
    if (connection == null) {
      return false;
    }
    for (String option : connection.split(",", -1)) {
      if (option.strip().equalsIgnoreCase(name)) {
        return true;
      }
    }
    return false;
  }

  /** Returns the first value of each header, for plugins. */
  static Map<String, String> asMap(MultiMap headers) {
    Map<String, String> map = new LinkedHashMap<>();
    headers.forEach((name, value) -> map.putIfAbsent(name, value));
    return map;
  }

  /** Returns a view through which plugins change the headers. */
  static PreRequest.Headers mutable(MultiMap headers) {
    return new PreRequest.Headers() {
      @Override
      public void set(String name, String value) {
        headers.set(name, value);
      }

      @Override
      public void remove(String name) {
        headers.remove(name);
      }
    };
  }
}
