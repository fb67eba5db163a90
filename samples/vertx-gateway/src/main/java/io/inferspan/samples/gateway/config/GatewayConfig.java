package io.inferspan.samples.gateway.config;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/**
 * How a gateway is set up.
 *
 * @param host the address to listen on
 * @param port the port to listen on; 0 is a free one
 * @param metricsPort the port of {@code /metrics}, if there is to be one
 * @param decode who answers requests
 * @param prefill who only prefills
 * @param kvEvents where they publish KV events, decoders first; empty for nowhere
 * @param prefillThresholdBytes bytes of input without cache from which another pod prefills
 * @param retries how many further engines a request is tried on
 * @param answerTimeout how long an engine may stay silent
 * @param maxBodyBytes the longest request
 * @param eventLoops threads that serve
 * @param tracing whether spans are recorded
 */
public record GatewayConfig(
    String host,
    int port,
    OptionalInt metricsPort,
    List<Address> decode,
    List<Address> prefill,
    List<Address> kvEvents,
    int prefillThresholdBytes,
    int retries,
    Duration answerTimeout,
    int maxBodyBytes,
    int eventLoops,
    boolean tracing) {

  private static final int MAX_PORT = 65_535;
  private static final int MAX_RETRIES = 10;

  /** Copies the lists, so that a configuration never changes. */
  public GatewayConfig {
    decode = List.copyOf(decode);
    prefill = List.copyOf(prefill);
    kvEvents = List.copyOf(kvEvents);
    if (decode.isEmpty()) {
      throw new IllegalArgumentException(
          "%s and %s are not set, but a gateway needs one engine at least: host:port,…"
              .formatted(Setting.DECODE.flag(), Setting.DECODE.variable()));
    }
    int engines = decode.size() + prefill.size();
    if (!kvEvents.isEmpty() && kvEvents.size() != engines) {
      throw new IllegalArgumentException(
          "%s names %d publishers, but there are %d engines: each needs one, decode before prefill."
              .formatted(Setting.KV_EVENTS.flag(), kvEvents.size(), engines));
    }
  }

  /** What can be set, for people. */
  public static String help() {
    return Setting.help();
  }

  /**
   * Reads flags and environment variables.
   *
   * @throws IllegalArgumentException with one sentence where something is not allowed
   */
  public static GatewayConfig parse(List<String> arguments, Map<String, String> environment) {
    Settings settings = new Settings(arguments, environment);
    int loops = settings.number(Setting.EVENT_LOOPS, 0, 1024);
    return new GatewayConfig(
        settings.text(Setting.HOST),
        settings.number(Setting.PORT, 0, MAX_PORT),
        settings.portOrNone(Setting.METRICS_PORT),
        settings.addresses(Setting.DECODE),
        settings.addresses(Setting.PREFILL),
        settings.addresses(Setting.KV_EVENTS),
        settings.number(Setting.PREFILL_THRESHOLD_BYTES, 0, Integer.MAX_VALUE),
        settings.number(Setting.RETRIES, 0, MAX_RETRIES),
        Duration.ofSeconds(settings.number(Setting.ANSWER_TIMEOUT_SECONDS, 1, 86_400)),
        settings.number(Setting.MAX_BODY_BYTES, 1, Integer.MAX_VALUE),
        loops == 0 ? Runtime.getRuntime().availableProcessors() : loops,
        settings.flag(Setting.TRACING));
  }
}
