package io.inferspan.pd.config;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** Messages for the user at startup: one sentence each, without duplicates, limited in number. */
final class Notes {

  private static final int MAX = 100;

  private final Set<String> sentences = new LinkedHashSet<>();

  void add(String sentence) {
    if (sentences.size() < MAX) {
      sentences.add(sentence);
    }
  }

  /** Adds a note about a deprecated name. */
  void deprecated(String origin, String flag) {
    add(origin + " is deprecated: use --" + flag);
  }

  /** Adds a note about an argument without a meaning. */
  void stray(String word) {
    add(
        "the argument "
            + ConfigException.quoted(word)
            + " is not a flag and is ignored; a boolean takes its value as in --tracing=false");
  }

  List<String> all() {
    return List.copyOf(sentences);
  }
}
