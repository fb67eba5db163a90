package io.inferspan.ebpf.cli;

import java.util.ArrayList;
import java.util.List;

/** Wraps text into lines. */
final class Prose {

  private Prose() {}

  /** Returns lines of at most {@code width} characters; a longer word gets a line of its own. */
  static List<String> lines(String text, int width) {
    List<String> lines = new ArrayList<>();
    StringBuilder line = new StringBuilder();
    for (String word : text.strip().split("\\s+", -1)) {
      if (!line.isEmpty() && line.length() + 1 + word.length() > width) {
        lines.add(line.toString());
        line.setLength(0);
      }
      line.append(line.isEmpty() ? "" : " ").append(word);
    }
    lines.add(line.toString());
    return lines;
  }
}
