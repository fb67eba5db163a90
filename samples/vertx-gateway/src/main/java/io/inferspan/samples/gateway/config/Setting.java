package io.inferspan.samples.gateway.config;

import java.util.Locale;

/** The settings, each with a flag and an environment variable; the flag takes precedence. */
enum Setting {
  HOST("0.0.0.0", "the address to listen on"),
  PORT("8080", "the port to listen on; 0 picks a free port"),
  METRICS_PORT("9090", "the port of /metrics and /health; none disables them"),
  DECODE("", "engines that decode, or their P/D sidecars, comma-separated: host:port,…"),
  PREFILL("", "engines that only prefill: host:port,…"),
  KV_EVENTS(
      "",
      "KV-event publishers of the engines, in the order of --decode, then --prefill: host:port,…"),
  PREFILL_THRESHOLD_BYTES(
      "1024", "minimum number of uncached prompt bytes for a prefill on another pod"),
  RETRIES("1", "maximum number of retries of a failed request, each on another engine"),
  ANSWER_TIMEOUT_SECONDS("600", "maximum time without data from an engine"),
  IDLE_TIMEOUT_SECONDS("30", "time after which idle or stalled client connections are closed"),
  MAX_BODY_BYTES("16777216", "maximum size of a request body; larger ones get status 413"),
  EVENT_LOOPS("0", "number of event-loop threads; 0 is one per processor"),
  TRACING("true", "record spans: true or false");

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
            A small LLM gateway. Picks an endpoint for each request, retries a failed request on
            another endpoint, streams the response, and traces each step.

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

            With --kv-events, the gateway indexes the prefixes that engines report as cached. They
            must then split prompts into tokens as the gateway does: at blanks, like the engines of
            samples/demo. Without --kv-events, the gateway assumes that an engine caches each prompt
            that it was sent.

            Each option can also be set by an environment variable, such as GATEWAY_PORT; the option
            takes precedence. OTEL_* and INFERSPAN_SPAN_NAMES configure tracing.
            """)
        .toString();
  }
}
