package io.inferspan.ebpf.linux;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** Counts the open descriptors of this process. */
public final class OpenFiles {

  private OpenFiles() {}

  /** Returns the number of open files, including the one needed to count. */
  public static int count() throws IOException {
    try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
      return (int) open.count();
    }
  }
}
