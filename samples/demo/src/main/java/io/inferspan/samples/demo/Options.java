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
      Starts a gateway, two P/D sidecars, four engines and a trace desk as separate processes,
      sends six requests, prints what each trace shows, and serves the desk until Ctrl-C.

      --once       exit after the six requests
      --load N     after the six requests, send N requests per second until Ctrl-C
      --help       print this help

      As root on Linux, the eBPF agent also runs. It adds kernel spans and spans of the CUDA
      stand-in, and two more requests run in the same steps of an engine with vLLM's processes.
      The engines have no model: they wait instead of computing. They and the gateway split
      prompts into tokens at blanks.
      """;

  private static final int MAX_LOAD = 1_000;

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
      if (number >= 1 && number <= MAX_LOAD) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Reported below, like a number out of range.
    }
    throw new IllegalArgumentException(
        "%s is %s, but must be 1 to %d.".formatted(option, value, MAX_LOAD));
  }
}
