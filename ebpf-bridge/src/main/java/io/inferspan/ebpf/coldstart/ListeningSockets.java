package io.inferspan.ebpf.coldstart;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.Stream;

/** Whether a process tree listens for TCP connections. */
final class ListeningSockets {

  private static final String LISTENING = "0A";
  private static final int STATE = 3;
  private static final int INODE = 9;

  private ListeningSockets() {}

  /** Whether one of the processes has a listening socket, as {@code /proc} says. */
  static boolean areIn(ProcessHandle root) {
    return Stream.concat(Stream.of(root), root.descendants())
        .anyMatch(process -> listens(Path.of("/proc", Long.toString(process.pid()))));
  }

  private static boolean listens(Path process) {
    try {
      Set<String> links = new HashSet<>();
      for (String table : new String[] {"net/tcp", "net/tcp6"}) {
        Files.readAllLines(process.resolve(table)).stream()
            .map(line -> line.strip().split(" +", -1))
            .filter(fields -> fields[STATE].equals(LISTENING))
            .forEach(fields -> links.add("socket:[" + fields[INODE] + "]"));
      }
      return !links.isEmpty() && hasOneOf(process, links);
    } catch (IOException gone) {
      return false;
    }
  }

  private static boolean hasOneOf(Path process, Set<String> links) throws IOException {
    try (DirectoryStream<Path> descriptors = Files.newDirectoryStream(process.resolve("fd"))) {
      for (Path descriptor : descriptors) {
        if (links.contains(Files.readSymbolicLink(descriptor).toString())) {
          return true;
        }
      }
    }
    return false;
  }
}
