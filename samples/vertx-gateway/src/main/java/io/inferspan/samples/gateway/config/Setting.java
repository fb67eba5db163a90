package io.inferspan.samples.gateway.config;

import java.util.Locale;

/** The settings, each with a flag and an environment variable; the flag takes precedence. */
enum Setting {
  HOST("0.0.0.0", "the address to listen on"),
  PORT("8080", "the port to listen on; 0 picks a free port"),
  METRICS_PORT("9090", "the port of /metrics and /health, or none"),
  DECODE("", "engines that decode, or their P/D sidecars: host:port,…"),
  PREFILL("", "engines that only prefill: host:port,…"),
  KV_EVENTS("", "KV-event publishers of the engines, decode first, in the same order: host:port,…"),
  PREFILL_THRESHOLD_BYTES(
      "1024", "with this many uncached prompt bytes or more, prefill runs on another pod"),
  RETRIES("1", "maximum number of other engines to retry a failed request on"),
  ANSWER_TIMEOUT_SECONDS("600", "maximum time without data from an engine"),
  IDLE_TIMEOUT_SECONDS("30", "time after which idle or stalled client connections are closed"),
  MAX_BODY_BYTES("16777216", "maximum size of a request body; larger ones get status 413"),
  EVENT_LOOPS("0", "number of event-loop threads; 0 is one per processor"),
  TRACING("true", "whether spans are recorded; OTEL_* configures the export");

  private final String byDefault;
  private final String meaning;

  Setting(String byDefault, String meaning) {
    this.byDefault = byDefault;
    this.meaning = meaning;
  }

  String byDefault() {
    return byDefault;
  }

  String flag() {
    return "--" + name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  String variable() {
    return "GATEWAY_" + name();
  }

  static String help() {
    StringBuilder help =
        new StringBuilder(
            """
            A small LLM gateway: picks an endpoint for each request, tries another when it fails,
            streams the answer, and traces all of it.

              java -jar inferspan-vertx-gateway.jar --decode=10.0.0.1:8000,10.0.0.2:8000

            """);
    for (Setting setting : values()) {
      help.append(
          String.format(
              Locale.ROOT,
              "  %-26s %s%s%n",
              setting.flag(),
              setting.meaning,
              setting.byDefault.isEmpty() ? "" : " (" + setting.byDefault + ")"));
    }
    return help.append(
            """

            With --kv-events, prefixes are looked up in an index that the engines' events keep true,
            and not guessed from what was sent where. Their tokens must then be the gateway's: words
            between blanks, as in samples/demo.

            Each can be set as a variable, such as GATEWAY_PORT, too; a flag wins. Tracing is set by
            OTEL_* and INFERSPAN_SPAN_NAMES.
            """)
        .toString();
  }
}
