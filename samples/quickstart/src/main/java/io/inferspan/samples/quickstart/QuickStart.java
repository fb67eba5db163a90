package io.inferspan.samples.quickstart;

import io.inferspan.catalog.SpanNaming;
import io.inferspan.export.ConsoleExporterProvider;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.otlp.OtlpReceiver;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The program: starts everything, sends one request through it and shows its trace. */
public final class QuickStart {

  private static final String HELP =
      """
      Traces one request through a small gateway, a prefill/decode proxy and two engines,
      and shows the trace.

      --prompt TEXT        ask this; a short prompt is not worth a prefill pod
      --span-names NAMES   which names spans get: %s
      --json               print the spans as OTLP/JSON lines instead
      --help               this text

      With OTEL_EXPORTER_OTLP_ENDPOINT the spans also go to a collector of yours.
      """
          .formatted(SpanNaming.settings());

  private static final String WHAT_HAPPENS =
      """
      A client asks a gateway for a chat completion. The gateway scores two decode pods by what
      they hold of the prompt, and decides whether the rest is worth a prefill on another pod.
      A proxy beside the decode pod calls the engines. Each service sends its spans over OTLP/gRPC:
      """;

  private QuickStart() {}

  /** Runs the program: exit code 0 for a trace, 2 for arguments not understood, else 1. */
  public static void main(String[] arguments) {
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    // Not just a return: a thread of Netty's would keep the JVM for another second.
    System.exit(run(List.of(arguments), out, System.err));
  }

  static int run(List<String> arguments, PrintStream out, PrintStream err) {
    try {
      if (arguments.contains("--help")) {
        out.print(HELP);
      } else {
        show(Options.parse(arguments), out);
      }
      return 0;
    } catch (IllegalArgumentException e) {
      err.println(e.getMessage());
      return 2;
    } catch (IOException | RuntimeException e) {
      err.println("The demo has failed: " + e.getMessage());
      return 1;
    }
  }

  /**
   * What the user asks for.
   *
   * @param prompt the question, which follows a system prompt that a pod has seen already
   * @param naming the generation of span names
   * @param json whether to print OTLP/JSON
   */
  record Options(String prompt, SpanNaming naming, boolean json) {

    static final Options DEFAULT = new Options(Timetable.QUESTION, SpanNaming.PROPOSAL, false);

    static Options parse(List<String> arguments) {
      Options options = DEFAULT;
      for (Iterator<String> rest = arguments.iterator(); rest.hasNext(); ) {
        String argument = rest.next();
        options =
            switch (argument) {
              case "--prompt" -> options.withPrompt(value(argument, rest));
              case "--span-names" -> options.withNaming(value(argument, rest));
              case "--json" -> new Options(options.prompt, options.naming, true);
              default ->
                  throw new IllegalArgumentException(
                      "Unknown option " + argument + "; --help lists those there are.");
            };
      }
      return options;
    }

    private static String value(String option, Iterator<String> rest) {
      if (!rest.hasNext()) {
        throw new IllegalArgumentException(option + " needs a value; --help says which.");
      }
      return rest.next();
    }

    Options withPrompt(String text) {
      return new Options(text, naming, json);
    }

    private Options withNaming(String setting) {
      SpanNaming chosen = SpanNaming.fromSetting(setting);
      if (chosen == null) {
        throw new IllegalArgumentException(
            "--span-names is %s, but must be one of %s.".formatted(setting, SpanNaming.settings()));
      }
      return new Options(prompt, chosen, json);
    }
  }

  /**
   * What came of it.
   *
   * @param spans all spans that arrived
   * @param delivered whether the user's own collector, too, has taken them in time
   */
  record Outcome(List<SpanRecord> spans, boolean delivered) {}

  /** Runs the one request, and everything it needs, from start to stop. */
  static Outcome trace(Options options) throws IOException {
    try (OtlpReceiver receiver = OtlpReceiver.start()) {
      boolean delivered;
      try (Tracing tracing = new Tracing(options.naming(), settings(receiver, options.json()));
          SmallCluster cluster = new SmallCluster(tracing)) {
        cluster.warmUp(Timetable.SYSTEM);
        cluster.ask(Timetable.SYSTEM, options.prompt());
        delivered = tracing.flush();
      }
      return new Outcome(receiver.spans(), delivered);
    }
  }

  private static Map<String, String> settings(OtlpReceiver receiver, boolean json) {
    List<String> exporters = new ArrayList<>();
    if (collector() != null) {
      exporters.add("otlp");
    }
    exporters.add(TerminalExporterProvider.NAME);
    if (json) {
      exporters.add(ConsoleExporterProvider.NAME);
    }
    return Map.of(
        "otel.sdk.disabled",
        "false",
        "otel.traces.sampler",
        "parentbased_always_on",
        "otel.traces.exporter",
        String.join(",", exporters),
        TerminalExporterProvider.ENDPOINT,
        receiver.endpoint());
  }

  private static @Nullable String collector() {
    String traces = System.getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
    return traces == null ? System.getenv("OTEL_EXPORTER_OTLP_ENDPOINT") : traces;
  }

  private static void show(Options options, PrintStream out) throws IOException {
    Outcome outcome = trace(options);
    Report report = new Report(outcome.spans());
    if (!options.json()) {
      out.println(WHAT_HAPPENS);
      out.println(report.tree());
      out.println(report.whereTheTimeWent());
      out.println(inYourCollector(report.traceId(), outcome.delivered()));
    }
  }

  private static String inYourCollector(String traceId, boolean delivered) {
    String collector = collector();
    if (collector == null) {
      return "In your own collector: OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4317 ./demo";
    }
    return delivered
        ? "The same went to %s; its trace id is %s.".formatted(collector, traceId)
        : "The collector at %s has not taken them in time.".formatted(collector);
  }
}
