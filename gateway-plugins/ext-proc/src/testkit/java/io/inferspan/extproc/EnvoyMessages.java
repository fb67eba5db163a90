package io.inferspan.extproc;

import com.google.protobuf.ByteString;
import com.google.protobuf.ListValue;
import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import io.envoyproxy.envoy.config.core.v3.HeaderMap;
import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.config.core.v3.HeaderValueOption;
import io.envoyproxy.envoy.config.core.v3.Metadata;
import io.envoyproxy.envoy.service.ext_proc.v3.HeaderMutation;
import io.vertx.core.MultiMap;
import io.vertx.core.net.SocketAddress;
import java.util.List;
import java.util.Locale;

/** Converts between Envoy's original message classes and the headers of a Vert.x server. */
final class EnvoyMessages {

  /** The namespace in which the filter sends attributes. */
  static final String FILTER = "envoy.filters.http.ext_proc";

  private EnvoyMessages() {}

  /**
   * Returns the attribute {@code source.address}, which Envoy sends if its configuration says so.
   */
  static Struct source(SocketAddress client) {
    String address = client.hostAddress() + ":" + client.port();
    return Struct.newBuilder()
        .putFields("source.address", Value.newBuilder().setStringValue(address).build())
        .build();
  }

  static HeaderMap headers(MultiMap headers) {
    HeaderMap.Builder map = HeaderMap.newBuilder();
    headers.forEach((name, value) -> map.addHeaders(header(name, value)));
    return map.build();
  }

  /** Returns a header with its value in raw form, as Envoy has sent it since 1.29. */
  static HeaderValue.Builder header(String name, String value) {
    return HeaderValue.newBuilder()
        .setKey(name.toLowerCase(Locale.ROOT))
        .setRawValue(ByteString.copyFromUtf8(value));
  }

  static void apply(HeaderMutation mutation, MultiMap headers) {
    mutation.getRemoveHeadersList().forEach(headers::remove);
    for (HeaderValueOption option : mutation.getSetHeadersList()) {
      HeaderValue header = option.getHeader();
      String value =
          header.getRawValue().isEmpty() ? header.getValue() : header.getRawValue().toStringUtf8();
      switch (option.getAppendAction()) {
        case OVERWRITE_IF_EXISTS_OR_ADD -> headers.set(header.getKey(), value);
        case APPEND_IF_EXISTS_OR_ADD -> headers.add(header.getKey(), value);
        default -> throw new AssertionError("unexpected action: " + option.getAppendAction());
      }
    }
  }

  /** Returns the metadata by which a gateway limits the endpoints that may be picked. */
  static Metadata subset(List<String> endpoints) {
    ListValue.Builder list = ListValue.newBuilder();
    endpoints.forEach(each -> list.addValues(Value.newBuilder().setStringValue(each)));
    Struct hint =
        Struct.newBuilder()
            .putFields(
                "x-gateway-destination-endpoint-subset",
                Value.newBuilder().setListValue(list).build())
            .build();
    return Metadata.newBuilder().putFilterMetadata("envoy.lb.subset_hint", hint).build();
  }

  /** Returns the metadata by which a gateway reports the endpoint that answered. */
  static Metadata served(String authority) {
    Struct served =
        Struct.newBuilder()
            .putFields(
                "x-gateway-destination-endpoint-served",
                Value.newBuilder().setStringValue(authority).build())
            .build();
    return Metadata.newBuilder().putFilterMetadata("envoy.lb", served).build();
  }

  /** Returns the destination for Envoy's load balancer; empty if there is none. */
  static String destination(Struct dynamicMetadata) {
    return dynamicMetadata
        .getFieldsOrDefault("envoy.lb", Value.getDefaultInstance())
        .getStructValue()
        .getFieldsOrDefault("x-gateway-destination-endpoint", Value.getDefaultInstance())
        .getStringValue();
  }
}
