package io.inferspan.pd.config.text;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.api.lowlevel.Compose;
import org.snakeyaml.engine.v2.api.lowlevel.Parse;
import org.snakeyaml.engine.v2.events.CollectionEndEvent;
import org.snakeyaml.engine.v2.events.CollectionStartEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.NodeTuple;
import org.snakeyaml.engine.v2.nodes.ScalarNode;
import org.snakeyaml.engine.v2.nodes.SequenceNode;

/**
 * One YAML mapping of keys to scalars or lists of scalars.
 *
 * <p>Only its nodes are read: aliases are not expanded, and tags never create objects.
 */
public final class FlatYaml {
  /** The value of a key: its texts (none for null or an empty text), and whether it is a list. */
  public record Entry(List<String> texts, boolean list) {}

  private static final int MAX_CHARACTERS = 1 << 20;

  /** The library's own recursion would overflow the stack at some thousand levels. */
  private static final int MAX_DEPTH = 50;

  private static final LoadSettings SETTINGS =
      LoadSettings.builder().setAllowNonScalarKeys(true).build();

  private FlatYaml() {}

  /** Reads {@code text}; an empty one has no keys. */
  public static Map<String, Entry> read(String text) throws TextException {
    if (text.length() > MAX_CHARACTERS) {
      throw new TextException("it is longer than " + MAX_CHARACTERS + " characters");
    }
    String yaml = withoutTabs(text);
    try {
      checkDepth(yaml);
      return entries(new Compose(SETTINGS).composeString(yaml).orElse(null));
    } catch (MarkedYamlEngineException e) {
      throw new TextException(String.valueOf(e.getProblem()) + place(e));
    } catch (YamlEngineException e) {
      throw new TextException(oneLine(String.valueOf(e.getMessage())));
    }
  }

  private static void checkDepth(String yaml) throws TextException {
    int depth = 0;
    for (Event event : new Parse(SETTINGS).parseString(yaml)) {
      if (event instanceof CollectionStartEvent && ++depth > MAX_DEPTH) {
        throw new TextException("it is nested deeper than " + MAX_DEPTH + " levels");
      }
      depth -= event instanceof CollectionEndEvent ? 1 : 0;
    }
  }

  /** Replaces tabs within braces, which Go's YAML parser accepts and this one rejects. */
  private static String withoutTabs(String text) {
    if (!text.stripLeading().startsWith("{")) {
      return text;
    }
    StringBuilder result = new StringBuilder(text);
    boolean indentation = true;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '\t' && indentation) {
        result.setCharAt(i, ' ');
      }
      indentation = c == '\n' || (indentation && (c == '\t' || c == ' '));
    }
    return result.toString();
  }

  private static String place(MarkedYamlEngineException e) {
    return e.getProblemMark()
        .map(mark -> " in line " + (mark.getLine() + 1) + ", column " + (mark.getColumn() + 1))
        .orElse("");
  }

  private static String oneLine(String message) {
    int end = message.indexOf('\n');
    return end < 0 ? message : message.substring(0, end);
  }

  private static Map<String, Entry> entries(@Nullable Node root) throws TextException {
    Map<String, Entry> entries = new LinkedHashMap<>();
    if (root == null || (root instanceof ScalarNode scalar && isNull(scalar))) {
      return entries;
    }
    if (!(root instanceof MappingNode mapping)) {
      throw new TextException("it must be a mapping of keys to values");
    }
    for (NodeTuple member : mapping.getValue()) {
      if (!(member.getKeyNode() instanceof ScalarNode key)) {
        throw new TextException("a key must be a plain name");
      }
      if (entries.put(key.getValue(), value(key.getValue(), member.getValueNode())) != null) {
        throw new TextException("the key " + Quoted.text(key.getValue()) + " is there twice");
      }
    }
    return entries;
  }

  private static Entry value(String key, Node node) throws TextException {
    boolean list = node instanceof SequenceNode;
    List<String> texts = new ArrayList<>();
    for (Node item : node instanceof SequenceNode items ? items.getValue() : List.of(node)) {
      if (!(item instanceof ScalarNode scalar)) {
        throw new TextException(
            "the key " + Quoted.text(key) + " must have a value or a flat list");
      }
      if (!isNull(scalar) && !scalar.getValue().isEmpty()) {
        texts.add(scalar.getValue());
      }
    }
    return new Entry(texts, list);
  }

  private static boolean isNull(ScalarNode scalar) {
    return scalar.isPlain()
        && switch (scalar.getValue()) {
          case "", "~", "null", "Null", "NULL" -> true;
          default -> false;
        };
  }
}
