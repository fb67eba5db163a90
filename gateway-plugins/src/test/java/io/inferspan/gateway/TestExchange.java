package io.inferspan.gateway;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** An exchange that no server has seen. */
record TestExchange(String method, String path, Map<String, List<String>> all)
    implements GatewayExchange {

  static TestExchange post(String path) {
    return new TestExchange("POST", path, Map.of());
  }

  static TestExchange chat(String... namesAndValues) {
    Map<String, List<String>> headers = new LinkedHashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      headers.put(namesAndValues[i], List.of(namesAndValues[i + 1]));
    }
    return new TestExchange("POST", "/v1/chat/completions", headers);
  }

  @Override
  public @Nullable String header(String name) {
    List<String> values = all.get(name);
    return values == null || values.isEmpty() ? null : values.get(0);
  }

  @Override
  public Iterator<String> headers(String name) {
    return all.getOrDefault(name, List.of()).iterator();
  }
}
