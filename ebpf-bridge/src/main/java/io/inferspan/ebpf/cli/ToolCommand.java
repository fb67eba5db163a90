package io.inferspan.ebpf.cli;

import io.inferspan.ebpf.BridgeConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A command of {@code inferspan-ebpf-bridge.jar}. */
abstract class ToolCommand implements Callable<Integer> {

  static final int MAX_BUCKET_MILLIS = 3_600_000;

  @Spec private @Nullable CommandSpec spec;

  final EbpfTool tool() {
    return (EbpfTool) spec().root().userObject();
  }

  final CommandSpec spec() {
    if (spec == null) {
      throw new IllegalStateException("not part of a command line");
    }
    return spec;
  }

  /** Returns an exception for an error on the command line. */
  final ParameterException wrong(String sentence) {
    return new ParameterException(spec().commandLine(), sentence);
  }

  final void requireWithin(String option, int value, int least, int most) {
    if (value < least || value > most) {
      throw wrong("%s %d: must be from %d to %d".formatted(option, value, least, most));
    }
  }

  /** Checks an optional number of at least 1; returns zero if it is absent. */
  final int within(String option, @Nullable Integer given, int most) {
    if (given != null) {
      requireWithin(option, given, 1, most);
    }
    return given == null ? 0 : given;
  }

  final void requireEnding(String file, String... endings) {
    for (String ending : endings) {
      if (file.endsWith(ending)) {
        return;
      }
    }
    throw wrong("--out %s: must end with %s".formatted(file, String.join(" or ", endings)));
  }

  final void requireProcesses(Collection<Integer> pids) {
    for (int pid : pids) {
      if (pid <= 0 || !Files.isDirectory(Path.of("/proc", Integer.toString(pid)))) {
        throw wrong("--pid " + pid + ": there is no such process");
      }
    }
  }

  final void requireTraceId(@Nullable String trace) {
    if (trace != null && !trace.matches("[0-9a-f]{32}")) {
      throw wrong("--trace " + trace + ": must be 32 hexadecimal digits");
    }
  }

  /** Reads the bridge's settings; an invalid one is reported like an invalid option. */
  final BridgeConfig bridge(AgentSettings settings) {
    try {
      return settings.bridge();
    } catch (IllegalArgumentException invalid) {
      throw wrong(String.valueOf(invalid.getMessage()));
    }
  }
}
