package io.inferspan.ebpf;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/**
 * The uses of {@code otel/traces_ctx_v1} in the BPF filesystem, the map in which OpenTelemetry
 * programs on a machine share contexts.
 */
public enum ContextSharing {
  /**
   * Observes threads that serve a trace according to another program. The map does not contain the
   * sampling flag, so all of these traces count as sampled.
   */
  READ,
  /**
   * Publishes the requests that the bridge recognises, and the spans current on this process's
   * threads. It costs a system call whenever a sampled span becomes current or stops being current.
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
                    "'" + word.strip() + "', but must be off, or a list of read, publish");
          });
    }
    return parts;
  }
}
