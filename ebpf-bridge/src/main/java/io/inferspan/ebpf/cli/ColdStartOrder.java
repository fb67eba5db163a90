package io.inferspan.ebpf.cli;

import java.io.PrintStream;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URL;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.jspecify.annotations.Nullable;

/**
 * Observe a start: of a command, or of a process that is there already.
 *
 * @param pid the process; 0 for a command
 * @param url ready when it answers; null for none
 * @param log ready when a line of the output has it; null for none
 * @param stops whether the command is stopped when it is ready
 * @param dropsCaches whether files are read from disks again
 * @param out where the calls are written
 * @param desk the trace desk that gets the timeline; null for none
 * @param bucketMillis the steps of a profile over time; 0 for none
 */
record ColdStartOrder(
    int pid,
    List<String> command,
    @Nullable URL url,
    @Nullable Pattern log,
    boolean stops,
    boolean dropsCaches,
    Path out,
    @Nullable URL desk,
    int bucketMillis)
    implements Invocation {

  private static final String OPTIONS =
      "--pid, --ready-url, --ready-log, --stop, --drop-caches, --out, --desk, --bucket-ms, and"
          + " then -- COMMAND";

  static Invocation parse(Arguments rest) throws UsageException {
    int pid = 0;
    @Nullable URL url = null;
    @Nullable Pattern log = null;
    boolean stops = false;
    boolean dropsCaches = false;
    String out = "coldstart.jsonl";
    @Nullable URL desk = null;
    int bucketMillis = 0;
    List<String> command = List.of();
    while (rest.hasNext()) {
      String word = rest.next();
      switch (word) {
        case "report", "compare" -> {
          return CallFilesOrder.parse(word, rest);
        }
        case "--pid" -> pid = pid(rest.valueOf(word));
        case "--ready-url" -> url = url(word, rest.valueOf(word));
        case "--ready-log" -> log = pattern(rest.valueOf(word));
        case "--stop" -> stops = true;
        case "--drop-caches" -> dropsCaches = true;
        case "--out" -> out = rest.valueOf(word);
        case "--desk" -> desk = url(word, rest.valueOf(word));
        case "--bucket-ms" -> bucketMillis = rest.number(word, CallFilesOrder.LONGEST_BUCKET);
        case "--" -> command = rest.rest();
        case "--help", "-h" -> {
          return new ShowHelp();
        }
        default -> throw rest.unknown("coldstart", word, OPTIONS);
      }
    }
    if ((pid == 0) == command.isEmpty()) {
      throw new UsageException(
          "coldstart needs -- COMMAND, --pid N, report FILE or compare BEFORE AFTER");
    }
    if (pid != 0 && (log != null || stops || dropsCaches)) {
      throw new UsageException(
          "--ready-log, --stop and --drop-caches are for a command, not for --pid");
    }
    return new ColdStartOrder(
        pid, command, url, log, stops, dropsCaches, Path.of(out), desk, bucketMillis);
  }

  private static int pid(String value) throws UsageException {
    new Targets.Builder().pids(value);
    if (value.contains(",")) {
      throw new UsageException("--pid " + value + ": must be one process");
    }
    return Integer.parseInt(value);
  }

  private static URL url(String option, String value) throws UsageException {
    try {
      if (value.matches("https?://.+")) {
        return URI.create(value).toURL();
      }
    } catch (IllegalArgumentException | MalformedURLException wrong) {
      throw new UsageException(option + " " + value + ": " + wrong.getMessage());
    }
    throw new UsageException(option + " " + value + ": must begin with http:// or https://");
  }

  private static Pattern pattern(String value) throws UsageException {
    try {
      return Pattern.compile(value);
    } catch (PatternSyntaxException wrong) {
      throw new UsageException("--ready-log " + value + ": " + wrong.getDescription());
    }
  }

  /** Returns the exit status. */
  int run(Map<String, String> environment, PrintStream out, PrintStream err)
      throws UsageException, InterruptedException {
    return ColdStartRun.run(this, environment, out, err);
  }
}
