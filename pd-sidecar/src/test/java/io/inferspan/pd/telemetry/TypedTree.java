package io.inferspan.pd.telemetry;

import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.SpanTree;
import io.inferspan.testing.SpanTree.Node;
import io.opentelemetry.api.trace.SpanKind;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Formats spans as text that is the same on every run: names, kinds, failures, and all attributes
 * of the sidecar with their types.
 *
 * <p>Values that differ between runs (times, ports, ids) are replaced by placeholders.
 */
final class TypedTree {
  private static final String ENGINE_SPAN = "llm_request";

  private final Map<String, String> names;
  private final StringBuilder text = new StringBuilder();

  private TypedTree(Map<String, String> names) {
    this.names = names;
  }

  /** Formats the trees of {@code spans}; each key of {@code names} is replaced by its value. */
  static String of(List<SpanRecord> spans, Map<String, String> names) {
    TypedTree tree = new TypedTree(names);
    SpanTree.of(spans).roots().forEach(root -> tree.append(root, ""));
    return tree.text.toString();
  }

  private void append(Node node, String indent) {
    SpanRecord span = node.span();
    text.append(indent).append(span.name());
    if (span.kind() != SpanKind.INTERNAL) {
      text.append(" [").append(span.kind()).append(']');
    }
    if (span.isError()) {
      text.append(" ERROR: ").append(span.statusDescription());
    }
    text.append('\n');
    // vLLM's own span is only present to show its parent.
    if (!span.name().equals(ENGINE_SPAN)) {
      new TreeMap<>(span.attributes())
          .forEach(
              (key, value) ->
                  text.append(indent)
                      .append("    ")
                      .append(key)
                      .append(": ")
                      .append(shown(key, value))
                      .append('\n'));
    }
    node.children().forEach(child -> append(child, indent + "  "));
  }

  private String shown(String key, Object value) {
    return switch (value) {
      case Double _ -> "double";
      case Long _ when key.endsWith("bootstrap_room") -> "long <room>";
      case Long number -> "long " + named(number.toString());
      case Boolean flag -> "boolean " + flag;
      case String _ when key.endsWith("request_id") -> "string <id>";
      case String words -> "string \"" + named(words) + '"';
      case List<?> list -> "list " + list;
      default -> value.getClass().getSimpleName() + ' ' + value;
    };
  }

  private String named(String value) {
    String result = value;
    for (Map.Entry<String, String> name : names.entrySet()) {
      result = result.replace(name.getKey(), name.getValue());
    }
    return result;
  }
}
