package io.inferspan.ebpf.cli;

import io.inferspan.ebpf.policy.Parameters;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that set a policy's parameters. */
final class PolicyParameters {

  private static final int MAX_VALUE = 9_999_999;
  private static final int MAX_PERCENTILE = 99;
  private static final long NANOS_PER_MILLI = 1_000_000;

  @Option(
      names = "--per-second",
      paramLabel = "N",
      description = "For rate-limit: keep N calls of each kind per second (1000).")
  private @Nullable Integer perSecond;

  @Option(
      names = "--percentile",
      paramLabel = "N",
      description = "For slow-only and latency: calls above this percentile are slow (99).")
  private @Nullable Integer percentile;

  @Option(
      names = "--one-in",
      paramLabel = "N",
      description = "For adaptive: keep one call in N while latencies are normal (64).")
  private @Nullable Integer oneIn;

  @Option(
      names = "--target-ms",
      paramLabel = "N",
      description = "For slo: the target time to a response's first byte, in ms (500).")
  private @Nullable Integer targetMillis;

  Parameters checked(ToolCommand command) {
    return new Parameters(
        command.within("--one-in", oneIn, MAX_VALUE),
        command.within("--per-second", perSecond, MAX_VALUE),
        10 * command.within("--percentile", percentile, MAX_PERCENTILE),
        command.within("--target-ms", targetMillis, MAX_VALUE) * NANOS_PER_MILLI);
  }
}
