package io.inferspan.ebpf.cli;

import io.inferspan.Telemetry;
import io.inferspan.TelemetryOptions;
import io.inferspan.ebpf.coldstart.ColdStartTrace;
import io.inferspan.ebpf.flame.StackFormatException;
import io.inferspan.ebpf.imports.NcclMaps;
import io.inferspan.ebpf.imports.SpanImport;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Exports recordings of other tools as spans. */
@Command(
    name = "import",
    description = {
      "Exports recordings of other tools as spans.",
      "From the JSON of NCCL's inspector: collectives and transfers, as children of the span in"
          + " TRACEPARENT, if set. From OTLP/JSON: queue, prefill and decode, as children of each"
          + " llm_request of vLLM."
    })
final class ImportCommand extends ToolCommand {

  private static final String SERVICE = "inferspan-ebpf-import";

  @Parameters(arity = "1..*", paramLabel = "FILE", description = "JSON, or JSON lines.")
  private List<Path> files = new ArrayList<>();

  @Option(
      names = "--nccl-maps",
      paramLabel = "NAME:PATH,...",
      description =
          "Pinned maps of nccl-eBPF, as in its variable NCCL_POLICY_KERNEL_MAPS; their values"
              + " become attributes of the collectives.")
  private @Nullable String ncclMaps;

  /** Prints to standard error, because an exporter may write to standard output. */
  @Override
  public Integer call() throws IOException {
    SpanImport spans = new SpanImport(ncclMaps == null ? NcclMaps.none() : NcclMaps.read(ncclMaps));
    for (Path file : files) {
      read(spans, file);
    }
    spans.report().forEach(tool().err::println);
    tool().err.println("sent " + write(spans, tool().environment) + " spans");
    return EbpfTool.DONE;
  }

  private static void read(SpanImport spans, Path file) throws IOException {
    try {
      spans.read(file);
    } catch (StackFormatException wrong) {
      throw new IOException(file + ": " + wrong.getMessage(), wrong);
    }
  }

  private static long write(SpanImport spans, Map<String, String> environment) throws IOException {
    TelemetryOptions options =
        TelemetryOptions.builder()
            .serviceName(SERVICE)
            // An import is exported in full unless its parent is not sampled.
            .setting("otel.traces.sampler", "parentbased_always_on")
            .setting("inferspan.ebpf", "off")
            .build();
    try (Telemetry telemetry = Telemetry.initTracing(options)) {
      spans.write(telemetry, ColdStartTrace.parent(telemetry, environment));
      return telemetry.spanCounts().exported();
    }
  }
}
