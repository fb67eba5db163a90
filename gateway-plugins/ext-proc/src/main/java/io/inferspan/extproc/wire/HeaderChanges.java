package io.inferspan.extproc.wire;

import com.google.protobuf.ByteString;
import io.inferspan.extproc.proto.Envoy;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Changes to headers: removals, then values to set.
 *
 * <p>Changes to hop-by-hop headers, {@code host} and pseudo-headers are ignored, because Envoy
 * rejects them, and some versions then reject the whole response.
 */
public final class HeaderChanges {

  private static final int OVERWRITE_IF_EXISTS_OR_ADD = 2;

  private static final Set<String> IGNORED =
      Set.of(
          "connection",
          "host",
          "keep-alive",
          "proxy-authenticate",
          "proxy-authorization",
          "proxy-connection",
          "te",
          "trailer",
          "transfer-encoding",
          "upgrade");

  /** New values by name; null removes a header. */
  private final Map<String, @Nullable String> changes = new LinkedHashMap<>();

  /** Creates an empty set of changes. */
  public HeaderChanges() {}

  /** Replaces all values of a header. */
  public HeaderChanges set(String name, String value) {
    return change(name, value);
  }

  /** Removes all values of a header. */
  public HeaderChanges remove(String name) {
    return change(name, null);
  }

  private HeaderChanges change(String name, @Nullable String value) {
    String lower = name.toLowerCase(Locale.ROOT);
    if (!lower.isEmpty() && lower.charAt(0) != ':' && !IGNORED.contains(lower)) {
      changes.put(lower, value);
    }
    return this;
  }

  boolean isEmpty() {
    return changes.isEmpty();
  }

  Envoy.HeaderMutation toMessage() {
    Envoy.HeaderMutation.Builder mutation = Envoy.HeaderMutation.newBuilder();
    changes.forEach(
        (name, value) -> {
          if (value == null) {
            mutation.addRemoveHeaders(name);
          } else {
            mutation.addSetHeaders(
                Envoy.HeaderValueOption.newBuilder()
                    .setHeader(
                        Envoy.HeaderValue.newBuilder()
                            .setKey(name)
                            .setRawValue(ByteString.copyFromUtf8(value)))
                    .setAppendAction(OVERWRITE_IF_EXISTS_OR_ADD));
          }
        });
    return mutation.build();
  }
}
