package io.inferspan.pd.config;

import io.inferspan.pd.config.Layer.Given;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
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
 * Reads settings from YAML, inline or in a file: one mapping of the flags' names to scalars or
 * lists of scalars.
 *
 * <p>Only the nodes are read: aliases are not expanded, and tags never create objects.
 */
final class YamlSource {

  private static final int MAX_FILE_BYTES = 1 << 20;
  private static final int MAX_CHARACTERS = 1 << 20;

  /**
   * The maximum nesting depth. SnakeYAML is recursive, and would overflow the stack at a few
   * thousand levels.
   */
  private static final int MAX_DEPTH = 50;

  private static final LoadSettings LIBRARY =
      LoadSettings.builder().setAllowNonScalarKeys(true).build();

  private static final Pattern INDENTATION = Pattern.compile("(?m)^[ \t]+");

  private final Layer layer;

  private YamlSource(Notes notes) {
    this.layer = new Layer(notes);
  }

  /** Reads the YAML that the flags name, if any. */
  static Layer read(Layer flags, Notes notes) throws ConfigException {
    YamlSource source = new YamlSource(notes);
    String text = text(flags);
    if (text != null) {
      source.take(text);
    }
    return source.layer;
  }

  private static @Nullable String text(Layer flags) throws ConfigException {
    String inline = value(flags.find(Settings.CONFIGURATION));
    String file = value(flags.find(Settings.CONFIGURATION_FILE));
    if (inline != null && file != null) {
      throw new ConfigException(
          "flags --configuration and --configuration-file are mutually exclusive");
    }
    return file == null ? inline : content(file);
  }

  private static @Nullable String value(@Nullable Given given) {
    return given == null || given.text().isEmpty() ? null : given.text();
  }

  private static String content(String file) throws ConfigException {
    try {
      Path path = Path.of(file);
      if (Files.isDirectory(path)) {
        throw unreadable(file, "it is a directory");
      }
      if (Files.size(path) > MAX_FILE_BYTES) {
        throw unreadable(file, "it is larger than 1 MiB");
      }
      return Files.readString(path);
    } catch (NoSuchFileException _) {
      throw unreadable(file, "there is no such file");
    } catch (CharacterCodingException _) {
      throw unreadable(file, "it is not UTF-8");
    } catch (InvalidPathException | IOException e) {
      throw unreadable(file, e.getClass().getSimpleName());
    }
  }

  private static ConfigException unreadable(String file, String reason) {
    return new ConfigException(
        "failed to read sidecar configuration from file %s (from --configuration-file): %s"
            .formatted(ConfigException.quoted(file), reason));
  }

  private void take(String text) throws ConfigException {
    if (text.length() > MAX_CHARACTERS) {
      throw refused("it is longer than " + MAX_CHARACTERS + " characters");
    }
    String yaml = withoutTabs(text);
    try {
      checkDepth(yaml);
      Node root = new Compose(LIBRARY).composeString(yaml).orElse(null);
      if (root instanceof MappingNode mapping) {
        take(mapping);
      } else if (root != null && !(root instanceof ScalarNode scalar && isNull(scalar))) {
        throw refused("it must be a mapping of keys to values");
      }
    } catch (MarkedYamlEngineException e) {
      throw refused(e.getProblem() + place(e));
    } catch (YamlEngineException e) {
      throw refused(String.valueOf(e.getMessage()).lines().findFirst().orElse(""));
    }
  }

  private static void checkDepth(String yaml) throws ConfigException {
    int depth = 0;
    for (Event event : new Parse(LIBRARY).parseString(yaml)) {
      if (event instanceof CollectionStartEvent && ++depth > MAX_DEPTH) {
        throw refused("it is nested deeper than " + MAX_DEPTH + " levels");
      }
      depth -= event instanceof CollectionEndEvent ? 1 : 0;
    }
  }

  /** Replaces tabs in the indentation of a flow mapping, which only Go's YAML parser accepts. */
  private static String withoutTabs(String text) {
    return text.stripLeading().startsWith("{")
        ? INDENTATION.matcher(text).replaceAll(space -> " ".repeat(space.group().length()))
        : text;
  }

  private static String place(MarkedYamlEngineException e) {
    return e.getProblemMark()
        .map(mark -> " in line " + (mark.getLine() + 1) + ", column " + (mark.getColumn() + 1))
        .orElse("");
  }

  private void take(MappingNode mapping) throws ConfigException {
    Set<String> keys = new HashSet<>();
    for (NodeTuple member : mapping.getValue()) {
      if (!(member.getKeyNode() instanceof ScalarNode key)) {
        throw refused("a key must be a plain name");
      }
      if (!keys.add(key.getValue())) {
        throw refused("the key " + ConfigException.quoted(key.getValue()) + " occurs twice");
      }
      take(key.getValue(), member.getValueNode());
    }
  }

  private void take(String key, Node value) throws ConfigException {
    Setting<?> setting = Settings.named(key);
    if (setting == null || !setting.isYamlKey()) {
      throw refused(
          "unknown key " + ConfigException.quoted(key) + "; the keys are the names of the flags");
    }
    String text = spelled(setting.kind, text(key, value));
    if (value instanceof SequenceNode && !setting.kind.isList()) {
      throw refused(key + " must be one value, but is a list");
    }
    if (isUnset(setting, text)) {
      return;
    }
    try {
      layer.read(setting, text, key, "the YAML key " + key);
    } catch (ConfigException e) {
      throw refused(String.valueOf(e.getMessage()));
    }
  }

  /** Returns the text of a value: the joined texts of a list; empty for null. */
  private static String text(String key, Node value) throws ConfigException {
    List<String> texts = new ArrayList<>();
    for (Node item : value instanceof SequenceNode list ? list.getValue() : List.of(value)) {
      if (!(item instanceof ScalarNode scalar)) {
        throw refused(
            "the key "
                + ConfigException.quoted(key)
                + " must have one value or a list of values, without nesting");
      }
      if (!isNull(scalar) && !scalar.getValue().isEmpty()) {
        texts.add(scalar.getValue());
      }
    }
    return String.join(",", texts);
  }

  private static boolean isNull(ScalarNode scalar) {
    return scalar.isPlain()
        && switch (scalar.getValue()) {
          case "", "~", "null", "Null", "NULL" -> true;
          default -> false;
        };
  }

  /**
   * Returns whether a value counts as not set: as in llm-d, empty values and invalid zeros, and
   * also port 0, which only the flag can set.
   */
  private static boolean isUnset(Setting<?> setting, String text) {
    return text.isEmpty()
        || setting.kind.isInvalidZero(text)
        || (setting == Settings.PORT && text.equals("0"));
  }

  /** Converts the spellings of booleans that only Go's YAML parser accepts. */
  private static String spelled(Kind<?> kind, String text) {
    if (!kind.isBoolean()) {
      return text;
    }
    return switch (text) {
      case "y", "Y", "yes", "Yes", "YES", "on", "On", "ON" -> "true";
      case "n", "N", "no", "No", "NO", "off", "Off", "OFF" -> "false";
      default -> text;
    };
  }

  private static ConfigException refused(String reason) {
    return new ConfigException("failed to unmarshal sidecar configuration: " + reason);
  }
}
