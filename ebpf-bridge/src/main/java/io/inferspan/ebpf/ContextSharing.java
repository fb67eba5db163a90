package io.inferspan.ebpf;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/**
 * How the bridge uses {@code otel/traces_ctx_v1} in the BPF filesystem, the map through which
 * OpenTelemetry's eBPF tools share the trace context of each thread.
 */
public enum ContextSharing {
  /**
   * Observes threads whose context another tool published. The map does not contain the sampled
   * flag, so all of these contexts are treated as sampled.
   */
  READ,
  /**
   * Publishes the contexts of recognised requests, and of the spans that are current on this
   * process's threads. This costs a system call whenever a sampled span becomes current or stops
   * being current.
   */
  PUBLISH;

  /** Parses {@code off}, or a list of {@code read} and {@code publish}. */
  static Set<ContextSharing> parse(String list) {
    Set<ContextSharing> parts = EnumSet.noneOf(ContextSharing.class);
    if (list.equals("off")) {
      return parts;
    }
    for (String word : list.split(",", -1)) {
      parts.add(
          switch (word.strip().toLowerCase(Locale.ROOT)) {
            case "read" -> READ;
            case "publish" -> PUBLISH;
            default ->
                throw new IllegalArgumentException(
                    "'" + word.strip() + "' is not one of off, read, publish");
          });
    }
    return parts;
  }
}
