package io.inferspan.pd.config;

import io.inferspan.pd.config.Layer.Given;
import io.inferspan.pd.config.text.FlatYaml;
import io.inferspan.pd.config.text.FlatYaml.Entry;
import io.inferspan.pd.config.text.Quoted;
import io.inferspan.pd.config.text.TextException;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads settings from YAML, inline or in a file, with the flags' names as keys. */
final class YamlSource {

  private static final String REFUSED = "failed to unmarshal sidecar configuration: ";
  private static final int MAX_FILE_BYTES = 1 << 20;

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
            .formatted(Quoted.text(file), reason));
  }

  private void take(String text) throws ConfigException {
    Map<String, Entry> entries;
    try {
      entries = FlatYaml.read(text);
    } catch (TextException e) {
      throw new ConfigException(REFUSED + e.problem());
    }
    for (Map.Entry<String, Entry> entry : entries.entrySet()) {
      take(entry.getKey(), entry.getValue());
    }
  }

  private void take(String key, Entry entry) throws ConfigException {
    Setting<?> setting = Settings.named(key);
    if (setting == null || !setting.isYamlKey()) {
      throw new ConfigException(
          REFUSED + "unknown key " + Quoted.text(key) + "; the keys are the names of the flags");
    }
    String origin = "the YAML key ".concat(key);
    if (entry.list() && !setting.kind().isList()) {
      throw new ConfigException(REFUSED + key + " must be one value, but is a list");
    }
    String text = spelled(setting.kind(), String.join(",", entry.texts()));
    if (isUnset(setting, text)) {
      return;
    }
    try {
      layer.read(setting, text, key, origin);
    } catch (ConfigException e) {
      throw new ConfigException(REFUSED + e.getMessage());
    }
  }

  /**
   * Returns whether a value counts as not set. As in llm-d, these are empty values and invalid
   * zeros; also port 0, which only the flag can set.
   */
  private static boolean isUnset(Setting<?> setting, String text) {
    return text.isEmpty()
        || setting.kind().isSenselessZero(text)
        || (setting == Settings.PORT && text.equals("0"));
  }

  /** Converts a boolean: Go's YAML has more spellings. */
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
}
