package io.inferspan.ebpf.cli;

import io.inferspan.ebpf.coldstart.CallRecord;
import io.inferspan.ebpf.coldstart.CallRecordFile;
import io.inferspan.ebpf.coldstart.CallReport;
import io.inferspan.ebpf.flame.StackFormatException;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Observes the start of a server, or reads the file of an earlier observation. */
@Command(
    name = "coldstart",
    synopsisSubcommandLabel = "| report | compare",
    description =
        "Analyses the start of a server and its child processes: phases, calls, and"
            + " a trace whose parent is TRACEPARENT, if set. Put -- in front of COMMAND.")
final class ColdStartCommand extends ToolCommand {

  private static final String BUCKETS =
      "Also print the number of calls that began in each interval of N ms.";

  @Parameters(paramLabel = "COMMAND", arity = "0..*", description = "The command to start.")
  List<String> command = new ArrayList<>();

  @Option(
      names = "--pid",
      paramLabel = "N",
      description = "Follow a running process instead of a command.")
  int pid;

  @Option(
      names = "--ready-url",
      paramLabel = "URL",
      description = "Ready when this URL answers with a status from 200 to 299.")
  @Nullable URL url;

  @Option(
      names = "--ready-log",
      paramLabel = "REGEX",
      description =
          "Ready when a line of the command's output matches. Without --ready-url and --ready-log,"
              + " the command is ready when it ends.")
  @Nullable Pattern log;

  @Option(
      names = "--stop",
      description = "Stop the command once it is ready, instead of waiting until it ends.")
  boolean stops;

  @Option(
      names = "--drop-caches",
      description =
          "Drop the page cache of the machine first, so that files are read from the disk.")
  boolean dropsCaches;

  @Option(
      names = "--out",
      paramLabel = "FILE",
      description =
          "The file for the calls, in the format of vllm-coldstart-probe"
              + " (coldstart.jsonl). The timeline is written next to it, as .html.")
  Path out = Path.of("coldstart.jsonl");

  @Option(
      names = "--desk",
      paramLabel = "URL",
      description = "Upload the timeline to this trace desk, which links it from the trace.")
  @Nullable URL desk;

  @Option(names = "--bucket-ms", paramLabel = "N", description = BUCKETS)
  private @Nullable Integer bucketMillis;

  /** The interval of a table of calls over time; 0 for no such table. */
  int bucket;

  @Override
  public Integer call() throws IOException, InterruptedException {
    if ((pid == 0) == command.isEmpty()) {
      throw wrong("coldstart needs -- COMMAND, --pid N, report FILE or compare BEFORE AFTER");
    }
    if (pid != 0) {
      requireProcesses(List.of(pid));
    }
    if (pid != 0 && (log != null || stops || dropsCaches)) {
      throw wrong("--ready-log, --stop and --drop-caches need a command instead of --pid");
    }
    requireHttp("--ready-url", url);
    requireHttp("--desk", desk);
    bucket = within("--bucket-ms", bucketMillis, MAX_BUCKET_MILLIS);
    return ColdStartRun.run(this);
  }

  private void requireHttp(String option, @Nullable URL given) {
    if (given != null && !given.getProtocol().matches("https?")) {
      throw wrong(option + " " + given + ": must begin with http:// or https://");
    }
  }

  @Command(
      description = "Prints tables of the calls in a file of coldstart or vllm-coldstart-probe.")
  int report(
      @Parameters(paramLabel = "FILE", description = "A file of coldstart or vllm-coldstart-probe.")
          Path file,
      @Option(names = "--bucket-ms", paramLabel = "N", description = BUCKETS)
          @Nullable Integer bucketMillis)
      throws IOException {
    int bucket = within("--bucket-ms", bucketMillis, MAX_BUCKET_MILLIS);
    tool().out.print(CallReport.of(read(file), bucket));
    return EbpfTool.DONE;
  }

  @Command(description = "Compares the calls in two files of coldstart or vllm-coldstart-probe.")
  int compare(
      @Parameters(
              paramLabel = "BEFORE",
              description = "A file of coldstart or vllm-coldstart-probe.")
          Path before,
      @Parameters(paramLabel = "AFTER", description = "The file to compare it with.") Path after)
      throws IOException {
    tool().out.print(CallReport.compare(read(before), read(after)));
    return EbpfTool.DONE;
  }

  private static List<CallRecord> read(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      return CallRecordFile.read(in);
    } catch (StackFormatException wrong) {
      throw new IOException(file + ": " + wrong.getMessage(), wrong);
    }
  }
}
