package io.inferspan.gateway;

import io.inferspan.OperationSpan;
import io.inferspan.json.Grammar;
import io.inferspan.json.JsonScanner;
import io.inferspan.json.JsonSink;
import io.inferspan.json.NodeType;
import io.inferspan.json.ShortText;
import io.inferspan.semconv.GenAiAttributes;
import io.inferspan.values.ShortValues;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The properties of the client's request, set by the gateway or read from the JSON body while it is
 * forwarded.
 *
 * <p>Three members of the outermost object are read, from pieces of any size; nothing else is
 * stored. The body is not validated: invalid JSON gives an arbitrary result, or none.
 */
final class RequestBody implements JsonSink {

  private static final int MODEL = NodeType.TEXT | 1;
  private static final int STREAM = NodeType.LITERAL | 1;
  private static final int MAX_TOKENS = NodeType.COUNT | 1;

  private static final Grammar GRAMMAR =
      new Grammar()
          .put(NodeType.ROOT, MODEL, "model")
          .put(NodeType.ROOT, STREAM, "stream")
          .put(NodeType.ROOT, MAX_TOKENS, "max_tokens", "max_completion_tokens")
          .put(NodeType.ROOT, MAX_TOKENS, "max_output_tokens");

  private static final long TRUE = 't' << 24 | 'r' << 16 | 'u' << 8 | 'e';
  private static final long FALSE = (long) 'f' << 32 | 'a' << 24 | 'l' << 16 | 's' << 8 | 'e';

  /** The shared instance for unobserved requests. */
  static final RequestBody UNSEEN = new RequestBody();

  /** Created with the first bytes, because many gateways set the properties instead. */
  private @Nullable JsonScanner json;

  private boolean over;
  private @Nullable String model;
  private @Nullable Boolean stream;
  private long maxTokens = -1;

  void model(String name) {
    model = ShortValues.of(name);
  }

  void stream(boolean wanted) {
    stream = wanted;
  }

  void maxTokens(long count) {
    maxTokens = count;
  }

  @Nullable String model() {
    return model;
  }

  void describe(OperationSpan span) {
    span.set(GenAiAttributes.REQUEST_MODEL, model).set(GenAiAttributes.REQUEST_STREAM, stream);
    if (maxTokens >= 0) {
      span.set(GenAiAttributes.REQUEST_MAX_TOKENS, maxTokens);
    }
  }

  /** Inspects the bytes between position and limit. */
  void see(ByteBuffer bytes) {
    JsonScanner scanner = json;
    if (scanner == null) {
      scanner = new JsonScanner(GRAMMAR, this);
      json = scanner;
    }
    try {
      int end = bytes.limit();
      for (int at = bytes.position(); at < end && !over; at++) {
        at = scanner.scan(bytes, at, end, 0);
      }
    } catch (RuntimeException unreadable) {
      // For example, the buffer's owner has freed its memory; the owner reports that itself.
      over = true;
    }
  }

  @Override
  public void leaves(int node) {
    over |= node == NodeType.ROOT;
  }

  @Override
  public void text(int node, ShortText text) {
    if (!over) {
      model = ShortValues.of(text.text(null));
    }
  }

  @Override
  public void literal(int node, long letters) {
    if (!over && (letters == TRUE || letters == FALSE)) {
      stream = letters == TRUE;
    }
  }

  @Override
  public void count(int node, long count, long nowNanos) {
    if (!over) {
      maxTokens = count;
    }
  }
}
