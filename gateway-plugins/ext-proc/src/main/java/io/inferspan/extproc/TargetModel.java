package io.inferspan.extproc;

import io.inferspan.extproc.wire.HeaderList;
import io.vertx.core.json.Json;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The model of a request: the model in llm-d's rewrite header, or else the model in the body.
 *
 * <p>Only a complete body that names a model can be rewritten.
 */
record TargetModel(ChatBody body, String name) {

  private static final String REWRITE = "x-llm-d-model-name-rewrite";
  private static final String FORMER_REWRITE = "x-gateway-model-name-rewrite";

  static TargetModel of(HeaderList headers, ChatBody body) {
    String rewrite = rewrite(headers);
    return rewrite == null || body.model().isEmpty()
        ? new TargetModel(body, body.model())
        : new TargetModel(body, rewrite);
  }

  private static @Nullable String rewrite(HeaderList headers) {
    String current = headers.first(REWRITE);
    String name = current == null ? headers.first(FORMER_REWRITE) : current;
    return name == null || name.isBlank() || name.length() > ChatBody.MAX_MODEL_BYTES
        ? null
        : name.strip();
  }

  /** Returns whether the name in the body must be replaced. */
  boolean isRewritten() {
    return !name.equals(body.model());
  }

  /** Returns the body with this model. */
  List<ByteBuffer> rewritten() {
    return body.withModel(Json.encode(name).getBytes(StandardCharsets.UTF_8));
  }
}
