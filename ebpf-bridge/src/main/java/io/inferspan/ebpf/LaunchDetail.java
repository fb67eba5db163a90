package io.inferspan.ebpf;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** The most detail of launches of kernels and graphs; a budget may lower it further. */
public enum LaunchDetail {
  /** Each is reported, with its duration. */
  FULL,
  /** One in sixteen is reported; the others are folded. */
  SAMPLED,
  /** All are folded in the kernel: number, and sum and extremes of their durations. */
  FOLDED,
  /** They are counted when they are called, without their returns, so failures are not seen. */
  COUNTED,
  /** They have no probes. Windows of an engine's steps come from its marks and its waits. */
  DETACHED;

  /** Parses a name in lower case. */
  public static LaunchDetail parse(String text) {
    return Arrays.stream(values())
        .filter(detail -> detail.word().equals(text))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "'"
                        + text
                        + "', but must be one of "
                        + Arrays.stream(values())
                            .map(LaunchDetail::word)
                            .collect(Collectors.joining(", "))));
  }

  private String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
