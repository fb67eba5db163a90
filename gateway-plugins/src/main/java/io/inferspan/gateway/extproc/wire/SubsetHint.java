package io.inferspan.gateway.extproc.wire;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The endpoints that a gateway leaves to choose from, in the metadata of a request.
 *
 * <p>It is a list, or a text with commas, under a key of its own in a namespace of its own.
 */
final class SubsetHint {

  static final String NAMESPACE = "envoy.lb.subset_hint";
  static final String KEY = "x-gateway-destination-endpoint-subset";
  static final int MAX_ENDPOINTS = 4096;

  private SubsetHint() {}

  /** Reads an {@code envoy.config.core.v3.Metadata}; null where it has no hint. */
  static @Nullable List<String> read(ProtoReader metadata) throws MalformedMessageException {
    ProtoReader value = MetadataValue.find(metadata, NAMESPACE, KEY);
    return value == null ? null : endpoints(value);
  }

  private static List<String> endpoints(ProtoReader value) throws MalformedMessageException {
    List<String> endpoints = new ArrayList<>();
    while (value.next()) {
      switch (value.field()) {
        case 3 -> add(value.readText(), endpoints);
        case 6 -> addAll(value.readMessage(), endpoints);
        default -> value.skip();
      }
    }
    return List.copyOf(endpoints);
  }

  private static void addAll(ProtoReader list, List<String> endpoints)
      throws MalformedMessageException {
    while (list.next()) {
      if (list.field() != 1) {
        list.skip();
        continue;
      }
      ProtoReader value = list.readMessage();
      while (value.next()) {
        if (value.field() == 3) {
          add(value.readText(), endpoints);
        } else {
          value.skip();
        }
      }
    }
  }

  private static void add(String text, List<String> endpoints) throws MalformedMessageException {
    int from = 0;
    while (from <= text.length()) {
      int comma = text.indexOf(',', from);
      int to = comma < 0 ? text.length() : comma;
      String endpoint = text.substring(from, to).strip();
      from = to + 1;
      if (endpoint.isEmpty()) {
        continue;
      }
      if (endpoints.size() == MAX_ENDPOINTS) {
        throw new MalformedMessageException(
            "the hint names more than " + MAX_ENDPOINTS + " endpoints");
      }
      endpoints.add(endpoint);
    }
  }
}
