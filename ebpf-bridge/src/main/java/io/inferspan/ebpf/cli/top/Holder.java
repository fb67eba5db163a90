package io.inferspan.ebpf.cli.top;

import io.inferspan.ebpf.kernel.BridgeMaps;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Finds the process that holds a map open: the kernel does not report which process created it. */
final class Holder {

  private final Path proc;

  Holder(Path proc) {
    this.proc = proc;
  }

  /** Returns the name and pid of the process, or a text for an unknown one. */
  String of(int map) {
    long self = ProcessHandle.current().pid();
    return list(proc).stream()
        .filter(process -> process.getFileName().toString().matches("[0-9]+"))
        .filter(process -> !process.endsWith(Long.toString(self)))
        .filter(process -> BridgeMaps.isHeldBy(process, map))
        .findFirst()
        .map(Holder::named)
        .orElse("a process that is not visible from here");
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
