package io.inferspan.ebpf.cli;

import io.inferspan.ebpf.flame.ListedRequests;
import io.inferspan.ebpf.flame.StackCounts;
import io.inferspan.ebpf.flame.Unit;
import io.inferspan.ebpf.imports.StackFile;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** A command that reads files of stacks and writes a flame graph. */
abstract class StackCommand extends ToolCommand {

  @Option(names = "--title", paramLabel = "TEXT", description = "The title of the graph.")
  private @Nullable String title;

  @Option(
      names = "--unit",
      paramLabel = "UNIT",
      converter = UnitConverter.class,
      description = "The unit of the values in the files: samples, calls, ns, us or bytes.")
  private @Nullable Unit unit;

  @Option(
      names = "--trace",
      paramLabel = "ID",
      description =
          "The trace id of the request. In a file of record --by-trace, only its stacks are used.")
  private @Nullable String trace;

  @Option(
      names = "--requests",
      paramLabel = "FILE",
      description =
          "Use only these requests of a file of record --by-trace: a trace id,"
              + " milliseconds and a model per line.")
  private @Nullable Path requests;

  @Option(
      names = "--model",
      paramLabel = "NAME",
      description = "Use only the requests in --requests with this model.")
  private @Nullable String model;

  final void check() {
    requireTraceId(trace);
    if (model != null && requests == null) {
      throw wrong("--model " + model + ": needs --requests with a model on each line");
    }
    if (trace != null && requests != null) {
      throw wrong("--trace and --requests cannot be combined, because both select requests");
    }
  }

  final @Nullable String trace() {
    return trace;
  }

  /** Returns the requests of {@code --requests}; null without that option. */
  final @Nullable ListedRequests listed() throws IOException {
    if (requests == null) {
      return null;
    }
    try (BufferedReader text = Files.newBufferedReader(requests)) {
      ListedRequests all = ListedRequests.read(text);
      return model == null ? all : all.ofModel(model);
    } catch (NoSuchFileException absent) {
      throw absent;
    } catch (IOException wrong) {
      throw new IOException(requests + ": " + wrong.getMessage(), wrong);
    }
  }

  /** Returns the stacks of a file that the options select. */
  final StackCounts chosen(Path input) throws IOException {
    ListedRequests listed = listed();
    StackCounts counts = listed == null ? read(input) : listed.stacks(read(input));
    return trace == null ? counts : counts.ofTrace(trace);
  }

  final StackCounts read(Path input) throws IOException {
    try {
      StackCounts counts = StackFile.read(input);
      return unit == null ? counts : counts.as(unit);
    } catch (NoSuchFileException absent) {
      throw absent;
    } catch (IOException wrong) {
      throw new IOException(input + ": " + wrong.getMessage(), wrong);
    }
  }

  final String titleOr(String other) {
    if (title != null) {
      return title;
    }
    if (trace != null) {
      return "Trace " + trace;
    }
    return model == null ? other : other + ", " + model;
  }
}
