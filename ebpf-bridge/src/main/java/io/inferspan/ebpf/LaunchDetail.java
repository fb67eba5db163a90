package io.inferspan.ebpf;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** The highest detail level of launches of CUDA kernels and graphs; a budget may lower it. */
public enum LaunchDetail {
  /** Each launch is reported, with its duration. */
  FULL,
  /** One launch in sixteen is reported; the others are folded, as for {@link #FOLDED}. */
  SAMPLED,
  /** Only the number of launches, and their total, minimum and maximum duration, are reported. */
  FOLDED,
  /** Launches are only counted, at their entry, so failed ones are not recognised. */
  COUNTED,
  /**
   * Launch functions have no probes. The busy time of an engine's step is then measured from the
   * step's start until the wait for the device ends.
   */
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
                        + "' is not one of "
                        + Arrays.stream(values())
                            .map(LaunchDetail::word)
                            .collect(Collectors.joining(", "))));
  }

  private String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
