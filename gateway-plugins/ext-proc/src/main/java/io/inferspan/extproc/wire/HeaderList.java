package io.inferspan.extproc.wire;

import com.google.protobuf.ByteString;
import io.inferspan.extproc.proto.Envoy;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A request's or response's headers, in Envoy's order. */
public final class HeaderList {

  /** The maximum number of headers, which is above Envoy's own limit. */
  static final int MAX_HEADERS = 1024;

  /** No headers. */
  public static final HeaderList EMPTY = new HeaderList(List.of());

  private final List<Envoy.HeaderValue> headers;

  private HeaderList(List<Envoy.HeaderValue> headers) {
    this.headers = headers;
  }

  static HeaderList of(Envoy.HeaderMap map) throws MalformedMessageException {
    if (map.getHeadersCount() > MAX_HEADERS) {
      throw new MalformedMessageException("there are more than " + MAX_HEADERS + " headers");
    }
    return new HeaderList(map.getHeadersList());
  }

  private static String value(Envoy.HeaderValue header) {
    ByteString raw = header.getRawValue();
    return (raw.isEmpty() ? header.getValue() : raw).toStringUtf8();
  }

  /** Returns the first value of a header, ignoring the case of its name; null if it is absent. */
  public @Nullable String first(String name) {
    for (Envoy.HeaderValue header : headers) {
      if (header.getKey().equalsIgnoreCase(name)) {
        return value(header);
      }
    }
    return null;
  }

  /** Returns all values of a header, in order. */
  public List<String> all(String name) {
    return headers.stream()
        .filter(header -> header.getKey().equalsIgnoreCase(name))
        .map(HeaderList::value)
        .toList();
  }

  /** Returns the first value of each header, by case-insensitive name. */
  public Map<String, String> toMap() {
    Map<String, String> map = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    headers.forEach(header -> map.putIfAbsent(header.getKey(), value(header)));
    return map;
  }

  /** Returns only the number of headers, because their content may be secret. */
  @Override
  public String toString() {
    return headers.size() + " headers";
  }
}
