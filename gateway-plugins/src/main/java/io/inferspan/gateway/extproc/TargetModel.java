package io.inferspan.gateway.extproc;

import io.inferspan.gateway.extproc.wire.HeaderList;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The model that a request goes to: the one its body names, unless whoever routed it before, by
 * llm-d's header, wants another in its place.
 *
 * <p>Only a body that is here as a whole can be changed, and only one that names a model is.
 */
record TargetModel(ChatBody body, String name) {

  private static final String REWRITE = "x-llm-d-model-name-rewrite";
  private static final String FORMER_REWRITE = "x-gateway-model-name-rewrite";

  static TargetModel of(HeaderList headers, ChatBody body) {
    String wanted = wanted(headers);
    return wanted == null || body.model().isEmpty()
        ? new TargetModel(body, body.model())
        : new TargetModel(body, wanted);
  }

  private static @Nullable String wanted(HeaderList headers) {
    String current = headers.first(REWRITE);
    String wanted = current == null ? headers.first(FORMER_REWRITE) : current;
    return wanted == null || wanted.isBlank() || wanted.length() > JsonString.MAX_BYTES
        ? null
        : wanted.strip();
  }

  /** Whether the body must say another name than it does. */
  boolean isRewritten() {
    return !name.equals(body.model());
  }

  /** The body with this model in it. */
  List<ByteBuffer> rewritten() {
    return body.withModel(JsonString.encode(name));
  }
}
