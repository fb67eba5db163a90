package io.inferspan.samples.deploy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** A part of a YAML document, with accessors for required values. */
record Yaml(String where, @Nullable Object value) {

  /** Returns all documents of a file. */
  static List<Yaml> documents(Path file) throws IOException {
    List<Yaml> documents = new ArrayList<>();
    Load load = new Load(LoadSettings.builder().setAllowDuplicateKeys(false).build());
    for (Object document : load.loadAllFromString(Files.readString(file))) {
      documents.add(new Yaml(String.valueOf(file.getFileName()), document));
    }
    return documents;
  }

  /**
   * Returns the value at a path such as {@code spec.template}; its content is null if it is absent.
   */
  Yaml at(String path) {
    Yaml found = this;
    for (String key : path.split("\\.", -1)) {
      Object next = found.value instanceof Map<?, ?> map ? map.get(key) : null;
      found = new Yaml(found.where + "." + key, next);
    }
    return found;
  }

  boolean isThere() {
    return value != null;
  }

  String text() {
    if (value == null) {
      throw new AssertionError("there is no value at " + where);
    }
    return String.valueOf(value);
  }

  /** Returns the items of a list; empty if there is no list. */
  List<Yaml> items() {
    return value instanceof List<?> list
        ? list.stream().map(item -> new Yaml(where + "[]", item)).toList()
        : List.of();
  }

  List<String> texts() {
    return items().stream().map(Yaml::text).toList();
  }

  Map<?, ?> map() {
    if (value instanceof Map<?, ?> map) {
      return map;
    }
    throw new AssertionError("there is no map at " + where);
  }
}
