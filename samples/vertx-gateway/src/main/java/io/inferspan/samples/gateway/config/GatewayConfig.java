package io.inferspan.samples.gateway.config;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/**
 * A gateway's configuration.
 *
 * @param host the address to listen on
 * @param port the port to listen on; 0 picks a free one
 * @param metricsPort the port of {@code /metrics}; empty for no metrics
 * @param decode the engines that decode
 * @param prefill the engines that only prefill
 * @param kvEvents the KV-event publishers of the engines, decode engines first; empty for none
 * @param prefillThresholdBytes the number of uncached prompt bytes from which prefill runs on
 *     another pod
 * @param retries the maximum number of other engines to try after a failure
 * @param answerTimeout the maximum time without data from an engine
 * @param idleTimeout the maximum time without data from a client that is idle or sends a request
 * @param maxBodyBytes the maximum size of a request
 * @param eventLoops the number of event-loop threads
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
    Duration idleTimeout,
    int maxBodyBytes,
    int eventLoops,
    boolean tracing) {

  private static final int MAX_PORT = 65_535;
  private static final int MAX_RETRIES = 10;

  /** Validates the values and copies the lists. */
  public GatewayConfig {
    decode = List.copyOf(decode);
    prefill = List.copyOf(prefill);
    kvEvents = List.copyOf(kvEvents);
    if (decode.isEmpty()) {
      throw new IllegalArgumentException(
          "Neither %s nor %s is set; the gateway needs at least one decode engine: host:port,…"
              .formatted(Setting.DECODE.flag(), Setting.DECODE.variable()));
    }
    int engines = decode.size() + prefill.size();
    if (!kvEvents.isEmpty() && kvEvents.size() != engines) {
      throw new IllegalArgumentException(
          "%s has %d publishers for %d engines; list one per engine, decode before prefill."
              .formatted(Setting.KV_EVENTS.flag(), kvEvents.size(), engines));
    }
  }

  /** Returns the help text. */
  public static String help() {
    return Setting.help();
  }

  /**
   * Reads flags and environment variables.
   *
   * @throws IllegalArgumentException if a value is invalid; the message is one sentence for the
   *     user
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
        Duration.ofSeconds(settings.number(Setting.IDLE_TIMEOUT_SECONDS, 1, 86_400)),
        settings.number(Setting.MAX_BODY_BYTES, 1, Integer.MAX_VALUE),
        loops == 0 ? Runtime.getRuntime().availableProcessors() : loops,
        settings.flag(Setting.TRACING));
  }
}
