package io.inferspan.gateway.extproc.wire;

import org.jspecify.annotations.Nullable;

/** The endpoint that answered, which Envoy tells in the metadata of an answer's headers. */
final class ServedEndpoint {

  static final String NAMESPACE = "envoy.lb";
  static final String KEY = "x-gateway-destination-endpoint-served";

  private static final int TEXT = 3;

  private ServedEndpoint() {}

  /** Reads an {@code envoy.config.core.v3.Metadata}; null where it does not tell. */
  static @Nullable String read(ProtoReader metadata) throws MalformedMessageException {
    ProtoReader value = MetadataValue.find(metadata, NAMESPACE, KEY);
    String endpoint = null;
    while (value != null && value.next()) {
      if (value.field() == TEXT) {
        endpoint = value.readText();
      } else {
        value.skip();
      }
    }
    return endpoint;
  }
}
