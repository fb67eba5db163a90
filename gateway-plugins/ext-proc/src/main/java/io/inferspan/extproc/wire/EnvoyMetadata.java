package io.inferspan.extproc.wire;

import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import io.inferspan.extproc.proto.Envoy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Values that Envoy sends with a message: metadata of its filters, and attributes. */
final class EnvoyMetadata {

  static final String SUBSET_NAMESPACE = "envoy.lb.subset_hint";
  static final String SUBSET_KEY = "x-gateway-destination-endpoint-subset";
  static final int MAX_ENDPOINTS = 4096;

  private static final String SERVED_NAMESPACE = "envoy.lb";
  private static final String SERVED_KEY = "x-gateway-destination-endpoint-served";
  private static final String ATTRIBUTES_NAMESPACE = "envoy.filters.http.ext_proc";
  private static final String SOURCE_KEY = "source.address";

  private EnvoyMetadata() {}

  /** The endpoints that may be picked, from a list or a text with commas; null for all. */
  static @Nullable List<String> subset(Envoy.ProcessingRequest message)
      throws MalformedMessageException {
    Value hint =
        find(message.getMetadataContext().getFilterMetadataMap(), SUBSET_NAMESPACE, SUBSET_KEY);
    if (hint == null) {
      return null;
    }
    List<String> endpoints = new ArrayList<>();
    add(hint.getStringValue(), endpoints);
    for (Value each : hint.getListValue().getValuesList()) {
      add(each.getStringValue(), endpoints);
    }
    return List.copyOf(endpoints);
  }

  private static void add(String text, List<String> endpoints) throws MalformedMessageException {
    for (String each : text.split(",", -1)) {
      if (each.isBlank()) {
        continue;
      }
      if (endpoints.size() == MAX_ENDPOINTS) {
        throw new MalformedMessageException(
            "the hint names more than " + MAX_ENDPOINTS + " endpoints");
      }
      endpoints.add(each.strip());
    }
  }

  /** The endpoint that answered, {@code host:port}; null if Envoy does not send it. */
  static @Nullable String served(Envoy.ProcessingRequest message) {
    return text(
        find(message.getMetadataContext().getFilterMetadataMap(), SERVED_NAMESPACE, SERVED_KEY));
  }

  /** The client's {@code address:port}; null unless it is among the filter's attributes. */
  static @Nullable String source(Envoy.ProcessingRequest message) {
    return text(find(message.getAttributesMap(), ATTRIBUTES_NAMESPACE, SOURCE_KEY));
  }

  private static @Nullable String text(@Nullable Value value) {
    return value == null || value.getStringValue().isEmpty() ? null : value.getStringValue();
  }

  private static @Nullable Value find(Map<String, Struct> all, String namespace, String key) {
    Struct fields = all.get(namespace);
    return fields == null ? null : fields.getFieldsMap().get(key);
  }
}
