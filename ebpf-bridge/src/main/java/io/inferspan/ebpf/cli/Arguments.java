package io.inferspan.ebpf.cli;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/** The words of a command line, one after the other; {@code --name=value} counts as two. */
final class Arguments {

  private final Deque<String> words = new ArrayDeque<>();

  Arguments(List<String> arguments) {
    for (String argument : arguments) {
      int equals = argument.startsWith("--") ? argument.indexOf('=') : -1;
      words.add(equals < 0 ? argument : argument.substring(0, equals));
      if (equals >= 0) {
        words.add(argument.substring(equals + 1));
      }
    }
  }

  boolean hasNext() {
    return !words.isEmpty();
  }

  String next() {
    return words.remove();
  }

  String valueOf(String option) throws UsageException {
    if (!hasNext() || words.element().startsWith("--") || words.element().isBlank()) {
      throw new UsageException(option + " needs a value, as in " + example(option));
    }
    return next();
  }

  UsageException unknown(String command, String word, String options) {
    return new UsageException(
        "%s has no option %s; its options: %s; --help tells more"
            .formatted(command, word, options));
  }

  private static String example(String option) {
    return switch (option) {
      case "--pid" -> "--pid 4711";
      case "--command" -> "--command python3";
      case "--metrics-port" -> "--metrics-port 9464";
      default -> option + " /sys/fs/cgroup/kubepods.slice";
    };
  }
}
