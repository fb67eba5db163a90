package io.inferspan.ebpf.cli;

import io.inferspan.ebpf.policy.Parameters;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that set a policy's parameters. */
final class PolicyParameters {

  private static final int MOST = 9_999_999;
  private static final int MOST_PERCENTILE = 99;
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
      description = "For slo: the target for a response's first byte (500).")
  private @Nullable Integer targetMillis;

  Parameters checked(ToolCommand command) {
    return new Parameters(
        command.within("--one-in", oneIn, MOST),
        command.within("--per-second", perSecond, MOST),
        10 * command.within("--percentile", percentile, MOST_PERCENTILE),
        command.within("--target-ms", targetMillis, MOST) * NANOS_PER_MILLI);
  }
}
