package io.inferspan.ebpf;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

/**
 * What a bridge does with the map by which OpenTelemetry's programs on a machine share contexts,
 * {@code otel/traces_ctx_v1} in the BPF filesystem.
 */
public enum ContextSharing {
  /**
   * Threads that another program says serve a trace are watched. The map does not say which traces
   * are sampled: all of them count as such.
   */
  READ,
  /**
   * Requests that the bridge recognises, and spans that are current on this process's threads, are
   * told to others. This costs a system call whenever a sampled span becomes current or leaves.
   */
  PUBLISH;

  /** Reads {@code off}, or a list of {@code read} and {@code publish}. */
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
