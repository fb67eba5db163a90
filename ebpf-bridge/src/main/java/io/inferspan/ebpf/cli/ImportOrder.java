package io.inferspan.ebpf.cli;

import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.ebpf.coldstart.ColdStartTrace;
import io.inferspan.ebpf.flame.StackFormatException;
import io.inferspan.ebpf.imports.NcclMaps;
import io.inferspan.ebpf.imports.SpanImport;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Send files of other tools as spans.
 *
 * @param ncclMaps pinned maps of nccl-eBPF whose values become attributes; null for none
 */
record ImportOrder(List<Path> files, @Nullable String ncclMaps) implements Invocation {

  private static final String SERVICE = "inferspan-ebpf-import";

  static Invocation parse(Arguments rest) throws UsageException {
    List<Path> files = new ArrayList<>();
    @Nullable String maps = null;
    while (rest.hasNext()) {
      String word = rest.next();
      if (word.equals("--help") || word.equals("-h")) {
        return new ShowHelp();
      }
      if (word.equals("--nccl-maps")) {
        maps = rest.valueOf(word);
      } else if (word.startsWith("-")) {
        throw rest.unknown("import", word, "--nccl-maps");
      } else {
        files.add(Path.of(word));
      }
    }
    if (files.isEmpty()) {
      throw new UsageException("import needs a file of NCCL's inspector or of OTLP/JSON");
    }
    return new ImportOrder(List.copyOf(files), maps);
  }

  /** Returns the exit status; standard output is left to an exporter. */
  int run(Map<String, String> environment, PrintStream err) {
    try {
      SpanImport spans =
          new SpanImport(ncclMaps == null ? NcclMaps.none() : NcclMaps.read(ncclMaps));
      for (Path file : files) {
        read(spans, file);
      }
      spans.report().forEach(err::println);
      err.println("sent " + write(spans, environment) + " spans");
      return EbpfTool.DONE;
    } catch (IOException failed) {
      err.println(failed.getMessage());
      return EbpfTool.FAILED;
    }
  }

  private static void read(SpanImport spans, Path file) throws IOException {
    try {
      spans.read(file);
    } catch (StackFormatException wrong) {
      throw new IOException(file + ": " + wrong.getMessage(), wrong);
    } catch (NoSuchFileException absent) {
      throw new IOException(file + ": there is no such file", absent);
    }
  }

  private static long write(SpanImport spans, Map<String, String> environment) throws IOException {
    TelemetryOptions options =
        TelemetryOptions.builder()
            .serviceName(SERVICE)
            // An import is wanted as a whole; only its parent can choose to do without it.
            .setting("otel.traces.sampler", "parentbased_always_on")
            .setting("inferspan.ebpf", "off")
            .build();
    try (Telemetry telemetry = Telemetry.initTracing(options)) {
      spans.write(telemetry, ColdStartTrace.parent(telemetry, environment));
      return telemetry.spanCounts().exported();
    }
  }
}
