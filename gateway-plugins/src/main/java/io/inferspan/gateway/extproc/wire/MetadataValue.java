package io.inferspan.gateway.extproc.wire;

import org.jspecify.annotations.Nullable;

/**
 * The way to one value of an {@code envoy.config.core.v3.Metadata}: a namespace, and a key in it.
 *
 * <p>Only the way is read, so that metadata of others costs a look at its keys.
 */
final class MetadataValue {

  private MetadataValue() {}

  /** The value, a {@code google.protobuf.Value}; null where there is none. */
  static @Nullable ProtoReader find(ProtoReader metadata, String namespace, String key)
      throws MalformedMessageException {
    ProtoReader fields = entry(metadata, namespace);
    return fields == null ? null : entry(fields, key);
  }

  /** The value under a key of the map that is field 1, as in a metadata and in a struct. */
  private static @Nullable ProtoReader entry(ProtoReader map, String key)
      throws MalformedMessageException {
    ProtoReader found = null;
    while (map.next()) {
      if (map.field() == 1) {
        ProtoReader value = valueIfKey(map.readMessage(), key);
        found = value == null ? found : value;
      } else {
        map.skip();
      }
    }
    return found;
  }

  private static @Nullable ProtoReader valueIfKey(ProtoReader entry, String key)
      throws MalformedMessageException {
    boolean isKey = false;
    ProtoReader value = null;
    while (entry.next()) {
      switch (entry.field()) {
        case 1 -> isKey = entry.readText().equals(key);
        case 2 -> value = entry.readMessage();
        default -> entry.skip();
      }
    }
    return isKey ? value : null;
  }
}
