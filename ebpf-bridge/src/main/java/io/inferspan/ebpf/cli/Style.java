package io.inferspan.ebpf.cli;

import io.inferspan.ebpf.Prerequisite;
import java.io.Console;
import java.util.Map;
import java.util.Optional;

/** How much a terminal can do with text. */
enum Style {
  /** A file, a pipe, or somebody who wants it plain. */
  PLAIN,
  /** A terminal that shows colours and moves its cursor. */
  TERMINAL;

  private static final String ESCAPE = "\u001b[";
  private static final String YELLOW = ESCAPE + "33m";
  private static final String RED = ESCAPE + "1;31m";
  private static final String NORMAL = ESCAPE + "0m";

  private static final String FIRST_LINE = ESCAPE + "H";
  private static final String ERASE_LINE = ESCAPE + "K";
  private static final String ERASE_BELOW = ESCAPE + "J";

  /** What this process writes to, where {@code NO_COLOR} does not ask for less. */
  static Style ofThisProcess(Map<String, String> environment) {
    // JDK 25 has two consoles; without a terminal, one is null and the other is not.
    boolean terminal =
        Optional.ofNullable(System.console()).filter(Console::isTerminal).isPresent();
    boolean plain =
        !terminal
            || !environment.getOrDefault("NO_COLOR", "").isEmpty()
            || environment.getOrDefault("TERM", "dumb").equals("dumb");
    return plain ? PLAIN : TERMINAL;
  }

  String paint(Prerequisite.State state, String word) {
    if (this == PLAIN) {
      return word;
    }
    return switch (state) {
      case AVAILABLE -> word;
      case LIMITED -> YELLOW + word + NORMAL;
      case MISSING -> RED + word + NORMAL;
    };
  }

  /** One picture in the place of the last. */
  String picture(String text) {
    return this == PLAIN ? text : FIRST_LINE + text.replace("\n", ERASE_LINE + "\n") + ERASE_BELOW;
  }
}
