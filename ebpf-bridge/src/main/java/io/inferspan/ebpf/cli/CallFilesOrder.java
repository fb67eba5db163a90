package io.inferspan.ebpf.cli;

import io.inferspan.ebpf.coldstart.CallRecord;
import io.inferspan.ebpf.coldstart.CallRecordFile;
import io.inferspan.ebpf.coldstart.CallReport;
import io.inferspan.ebpf.flame.StackFormatException;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Report the calls of a cold start, or compare those of two.
 *
 * @param files one to report, or two to compare
 * @param bucketMillis the steps of a profile over time; 0 for none
 */
record CallFilesOrder(List<Path> files, int bucketMillis) implements Invocation {

  private static final String OPTIONS = "--bucket-ms";
  static final int LONGEST_BUCKET = 3_600_000;

  static Invocation parse(String action, Arguments rest) throws UsageException {
    List<Path> files = new ArrayList<>();
    int bucketMillis = 0;
    while (rest.hasNext()) {
      String word = rest.next();
      switch (word) {
        case "--bucket-ms" -> bucketMillis = rest.number(word, LONGEST_BUCKET);
        case "--help", "-h" -> {
          return new ShowHelp();
        }
        default -> {
          if (word.startsWith("-")) {
            throw rest.unknown("coldstart", word, OPTIONS);
          }
          files.add(Path.of(word));
        }
      }
    }
    boolean compares = action.equals("compare");
    if (files.size() != (compares ? 2 : 1)) {
      throw new UsageException(
          "coldstart "
              + action
              + " needs "
              + (compares ? "two files, before and after" : "one file of calls"));
    }
    return new CallFilesOrder(List.copyOf(files), bucketMillis);
  }

  /** Returns the exit status. */
  int run(PrintStream out, PrintStream err) {
    try {
      List<CallRecord> first = read(files.getFirst());
      out.print(
          files.size() == 1
              ? CallReport.of(first, bucketMillis)
              : CallReport.compare(first, read(files.getLast())));
      return EbpfTool.DONE;
    } catch (IOException failed) {
      err.println(failed.getMessage());
      return EbpfTool.FAILED;
    }
  }

  private static List<CallRecord> read(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      return CallRecordFile.read(in);
    } catch (StackFormatException wrong) {
      throw new IOException(file + ": " + wrong.getMessage(), wrong);
    } catch (NoSuchFileException absent) {
      throw new IOException(file + ": there is no such file", absent);
    }
  }
}
