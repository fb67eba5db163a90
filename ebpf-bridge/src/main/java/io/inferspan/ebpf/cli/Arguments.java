package io.inferspan.ebpf.cli;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;

/**
 * The words of a command line, one after the other; {@code --name=value} counts as two unless it
 * stands behind {@code --}.
 */
final class Arguments {

  private final Deque<String> words = new ArrayDeque<>();

  Arguments(List<String> arguments) {
    for (String argument : arguments) {
      boolean behind = words.contains("--");
      int equals = !behind && argument.startsWith("--") ? argument.indexOf('=') : -1;
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

  /** All words that are left. */
  List<String> rest() {
    List<String> rest = List.copyOf(words);
    words.clear();
    return rest;
  }

  String valueOf(String option) throws UsageException {
    if (!hasNext() || words.element().startsWith("--") || words.element().isBlank()) {
      throw new UsageException(option + " needs a value, as in " + example(option));
    }
    return next();
  }

  /** A whole number from 1 to {@code most}. */
  int number(String option, int most) throws UsageException {
    String value = valueOf(option);
    if (!value.matches("[1-9][0-9]{0,6}") || Integer.parseInt(value) > most) {
      throw new UsageException(option + " " + value + ": must be from 1 to " + most);
    }
    return Integer.parseInt(value);
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
      case "--seconds" -> "--seconds 10";
      case "--frequency" -> "--frequency 99";
      case "--bucket-ms" -> "--bucket-ms 100";
      case "--ready-url" -> "--ready-url http://localhost:8000/health";
      case "--ready-log" -> "--ready-log 'startup complete'";
      case "--out" -> "--out request.html";
      case "--title" -> "--title Prefill";
      case "--unit" -> "--unit ns";
      case "--floor" -> "--floor 100";
      case "--one-in" -> "--one-in 64";
      case "--per-second" -> "--per-second 1000";
      case "--percentile" -> "--percentile 99";
      case "--target-ms" -> "--target-ms 500";
      case "--slowest" -> "--slowest 1%";
      case "--requests" -> "--requests requests.txt";
      case "--model" -> "--model llama";
      case "--trace" -> "--trace 4bf92f3577b34da6a3ce929d0e0e4736";
      default -> option + " /sys/fs/cgroup/kubepods.slice";
    };
  }
}
