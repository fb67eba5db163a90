package io.inferspan.samples.demo;

import java.util.Iterator;
import java.util.List;

/**
 * The command-line options.
 *
 * @param once whether to end after the six requests
 * @param load requests per second after the six requests; 0 for none
 * @param learn whether this run writes AOT caches for later starts
 */
record Options(boolean once, int load, boolean learn) {

  static final String HELP =
      """
      Starts a gateway, two P/D sidecars, four engines and a trace desk, each as a process of its
      own, sends six requests, and shows their traces.

      --once       ends after that; without, the desk's page stays until Ctrl-C
      --load N     then sends N requests a second
      --help       this text

      As root on Linux the eBPF agent joins, with spans of the kernel and of a stand-in for CUDA,
      and two more requests share the steps of an engine with vLLM's processes.
      The engines only pretend to have a model: they wait instead of computing. To them and to the
      gateway a word between blanks is a token.
      """;

  private static final int MOST_LOAD = 1_000;

  static Options parse(List<String> arguments) {
    Options options = new Options(false, 0, false);
    for (Iterator<String> rest = arguments.iterator(); rest.hasNext(); ) {
      String argument = rest.next();
      options =
          switch (argument) {
            case "--once" -> new Options(true, options.load, options.learn);
            case "--load" -> new Options(options.once, number(argument, rest), options.learn);
            // For the script ./demo, whose later starts use the caches.
            case "--learn" -> new Options(true, 0, true);
            default ->
                throw new IllegalArgumentException(
                    "Unknown option " + argument + "; --help lists the options.");
          };
    }
    if (options.once && options.load > 0) {
      throw new IllegalArgumentException("--once and --load exclude each other; give only one.");
    }
    return options;
  }

  private static int number(String option, Iterator<String> rest) {
    String value = rest.hasNext() ? rest.next() : "missing";
    try {
      int number = Integer.parseInt(value);
      if (number >= 1 && number <= MOST_LOAD) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Reported below, like a number out of range.
    }
    throw new IllegalArgumentException(
        "%s is %s, but must be 1 to %d.".formatted(option, value, MOST_LOAD));
  }
}
