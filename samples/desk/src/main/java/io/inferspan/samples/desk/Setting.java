package io.inferspan.samples.desk;

import java.util.Locale;

/** A setting: a flag, and an environment variable that the flag overrides. */
enum Setting {
  HOST(
      "127.0.0.1",
      "the address to listen on; unless it is a loopback address, the traces can be read over the network"),
  PORT("8900", "the port of the web page; 0 picks a free one"),
  OTLP_HTTP_PORT("4318", "the port for OTLP over HTTP; 0 picks a free one"),
  OTLP_GRPC_PORT("4317", "the port for OTLP over gRPC; 0 picks a free one"),
  MAX_SPANS(
      "500000", "maximum number of spans; the least recently updated traces are dropped first"),
  MAX_BYTES("0", "maximum bytes of spans; 0 is half of the heap"),
  STACKS("", "a directory with files that `record --by-trace` of the eBPF bridge wrote");

  private final String defaultValue;
  private final String meaning;

  Setting(String defaultValue, String meaning) {
    this.defaultValue = defaultValue;
    this.meaning = meaning;
  }

  String defaultValue() {
    return defaultValue;
  }

  String flag() {
    return "--" + name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  String variable() {
    return "DESK_" + name();
  }

  static String help() {
    StringBuilder help =
        new StringBuilder(
            """
            Receives traces over OTLP and shows on a web page where requests spent their time.

              java -jar inferspan-desk.jar
              OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4317 your-gateway
              java -jar inferspan-desk.jar explain ID --desk=http://127.0.0.1:8900

            explain prints the analysis of a running desk for the request with this trace id or
            request id.

            """);
    for (Setting setting : values()) {
      help.append(
          String.format(
              Locale.ROOT,
              "  %-18s %s%s%n",
              setting.flag(),
              setting.meaning,
              setting.defaultValue.isEmpty() ? "" : " (" + setting.defaultValue + ")"));
    }
    return help.append(
            """
              --help             print this help
              --version          print the version

            Each option can also be set by an environment variable, such as DESK_PORT; the option
            takes precedence.
            """)
        .toString();
  }
}
