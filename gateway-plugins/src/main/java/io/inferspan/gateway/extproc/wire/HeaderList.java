package io.inferspan.gateway.extproc.wire;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Headers as Envoy tells them: in their order, a name as often as it stands there. */
public final class HeaderList {

  /** More than Envoy itself lets through. */
  static final int MAX_HEADERS = 1024;

  /** No headers. */
  public static final HeaderList EMPTY = new HeaderList(List.of());

  private final List<Map.Entry<String, String>> headers;

  private HeaderList(List<Map.Entry<String, String>> headers) {
    this.headers = headers;
  }

  /** Reads an {@code envoy.config.core.v3.HeaderMap}. */
  static HeaderList read(ProtoReader map) throws MalformedMessageException {
    List<Map.Entry<String, String>> headers = new ArrayList<>();
    while (map.next()) {
      if (map.field() == 1) {
        if (headers.size() == MAX_HEADERS) {
          throw new MalformedMessageException("there are more than " + MAX_HEADERS + " headers");
        }
        headers.add(header(map.readMessage()));
      } else {
        map.skip();
      }
    }
    return new HeaderList(headers);
  }

  private static Map.Entry<String, String> header(ProtoReader in) throws MalformedMessageException {
    String name = "";
    String value = "";
    while (in.next()) {
      switch (in.field()) {
        case 1 -> name = in.readText();
        // Envoy fills one of the two: text, or raw bytes for what need not be UTF-8.
        case 2, 3 -> value = orElse(in.readText(), value);
        default -> in.skip();
      }
    }
    return Map.entry(name, value);
  }

  private static String orElse(String value, String other) {
    return value.isEmpty() ? other : value;
  }

  /** The first value of a header, whatever the case of its name; null where there is none. */
  public @Nullable String first(String name) {
    for (Map.Entry<String, String> header : headers) {
      if (header.getKey().equalsIgnoreCase(name)) {
        return header.getValue();
      }
    }
    return null;
  }

  /** All values of a header, in their order. */
  public List<String> all(String name) {
    List<String> values = new ArrayList<>();
    for (Map.Entry<String, String> header : headers) {
      if (header.getKey().equalsIgnoreCase(name)) {
        values.add(header.getValue());
      }
    }
    return values;
  }

  /** The first value of each header by its name, whose case does not matter. */
  public Map<String, String> toMap() {
    Map<String, String> map = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    headers.forEach(header -> map.putIfAbsent(header.getKey(), header.getValue()));
    return map;
  }

  /** How many headers there are; their content may be secret. */
  @Override
  public String toString() {
    return headers.size() + " headers";
  }
}
