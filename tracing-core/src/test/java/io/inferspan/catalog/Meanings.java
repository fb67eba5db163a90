package io.inferspan.catalog;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Reads the Javadoc of the catalogue's constants. */
final class Meanings {

  private static final Path SOURCES = Path.of("target/generated-sources/catalogue/io/inferspan");

  private static final Pattern CONSTANT =
      Pattern.compile(
          "/\\*\\*((?:(?!\\*/).)*)\\*/\\s+"
              + "public static final (?:SpanType|Attribute<\\S+>)\\s+(\\w+)",
          Pattern.DOTALL);

  private final Map<Object, String> texts = new HashMap<>();

  private Meanings() {}

  static Meanings read() {
    Meanings meanings = new Meanings();
    try {
      meanings.readAll("catalog", "Spans.java");
      meanings.readAll("semconv", "Attributes.java");
    } catch (IOException | ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
    return meanings;
  }

  /** Returns the Javadoc of a constant, or an empty text if it has none. */
  String of(Object constant) {
    return texts.getOrDefault(constant, "");
  }

  private void readAll(String folder, String end) throws IOException, ReflectiveOperationException {
    List<Path> files;
    try (Stream<Path> all = Files.list(SOURCES.resolve(folder))) {
      files = all.filter(file -> file.toString().endsWith(end)).toList();
    }
    for (Path file : files) {
      String name = file.getFileName().toString().replace(".java", "");
      Class<?> type = Class.forName("io.inferspan." + folder + "." + name);
      Matcher constants = CONSTANT.matcher(Files.readString(file));
      while (constants.find()) {
        String text =
            constants
                .group(1)
                .replaceAll("\\s+\\*?\\s*", " ")
                .replaceAll("\\{@code ([^}]*)}", "`$1`")
                .strip();
        texts.put(type.getField(constants.group(2)).get(null), text);
      }
    }
  }
}
