package io.inferspan.ebpf.cli;

import io.inferspan.ebpf.Prerequisite;
import java.io.Console;
import java.util.Map;
import java.util.Optional;

/** The capabilities of the output. */
enum Style {
  /** Plain text, for files and pipes, and for terminals with {@code NO_COLOR}. */
  PLAIN,
  /** A terminal with colours and cursor control. */
  TERMINAL;

  private static final String ESCAPE = "\u001b[";
  private static final String YELLOW = ESCAPE + "33m";
  private static final String RED = ESCAPE + "1;31m";
  private static final String NORMAL = ESCAPE + "0m";

  private static final String FIRST_LINE = ESCAPE + "H";
  private static final String ERASE_LINE = ESCAPE + "K";
  private static final String ERASE_BELOW = ESCAPE + "J";

  /** Returns the style for this process's output; {@code NO_COLOR} selects plain text. */
  static Style ofThisProcess(Map<String, String> environment) {
    // Without a terminal, System.console() is null or not, depending on the JDK's provider.
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

  /** Returns the text with control sequences that draw it over the previous page. */
  String redraw(String text) {
    return this == PLAIN ? text : FIRST_LINE + text.replace("\n", ERASE_LINE + "\n") + ERASE_BELOW;
  }
}
