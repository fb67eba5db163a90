package io.inferspan.ebpf.cli.top;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Finds the process that holds a map open, because the kernel does not report a map's creator. */
final class Holder {

  private static final String A_MAP = "anon_inode:bpf-map";

  private final Path proc;

  Holder(Path proc) {
    this.proc = proc;
  }

  /** Returns the name and pid of the process, or a text for an unknown one. */
  String of(int map) {
    String wanted = "map_id:\t" + map;
    long self = ProcessHandle.current().pid();
    return list(proc).stream()
        .filter(process -> process.getFileName().toString().matches("[0-9]+"))
        .filter(process -> !process.endsWith(Long.toString(self)))
        .filter(process -> holds(process, wanted))
        .findFirst()
        .map(Holder::named)
        .orElse("a process that is not visible from here");
  }

  private static boolean holds(Path process, String wanted) {
    return list(process.resolve("fd")).stream()
        .filter(Holder::isMap)
        .map(fd -> process.resolve("fdinfo").resolve(fd.getFileName()))
        .anyMatch(info -> text(info).lines().anyMatch(wanted::equals));
  }

  private static boolean isMap(Path fd) {
    try {
      return Files.readSymbolicLink(fd).toString().equals(A_MAP);
    } catch (IOException gone) {
      return false;
    }
  }

  private static String named(Path process) {
    return text(process.resolve("comm")).strip() + " (process " + process.getFileName() + ")";
  }

  private static List<Path> list(Path directory) {
    try (Stream<Path> entries = Files.list(directory)) {
      return entries.toList();
    } catch (IOException | UncheckedIOException gone) {
      return List.of();
    }
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException gone) {
      return "";
    }
  }
}
