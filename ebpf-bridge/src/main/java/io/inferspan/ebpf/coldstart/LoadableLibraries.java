package io.inferspan.ebpf.coldstart;

import io.inferspan.ebpf.linux.FileDescriptor;
import io.inferspan.ebpf.linux.Mapping;
import io.inferspan.ebpf.linux.SystemCallException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Maps the machine's CUDA and NCCL libraries into this process. A bridge that observes this process
 * then attaches its probes to them before the observed command can call them.
 */
public final class LoadableLibraries implements AutoCloseable {

  private static final Path LDCONFIG = Path.of("/sbin/ldconfig");
  private static final String NAME = "lib(?:cuda|cudart|nccl)\\.so[.0-9]*";

  /** A line of the loader's cache, as {@code ldconfig -p} prints it. */
  private static final Pattern CACHED =
      Pattern.compile("\\s*" + NAME + " \\(libc6,(?:x86-64|AArch64).*\\) => (/.*)");

  private final List<Mapping> mappings = new ArrayList<>();

  private LoadableLibraries() {}

  /**
   * Maps the libraries in the loader's cache and in {@code path}.
   *
   * @param path directories, separated by colons; null for none
   */
  public static LoadableLibraries map(@Nullable String path) {
    LoadableLibraries libraries = new LoadableLibraries();
    Set<Path> files = new LinkedHashSet<>();
    for (String directory : (path == null ? "" : path).split(":", -1)) {
      files.addAll(inDirectory(directory));
    }
    files.addAll(cached());
    files.forEach(libraries::map);
    return libraries;
  }

  private static List<Path> inDirectory(String directory) {
    if (directory.isEmpty()) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(Path.of(directory))) {
      return files.filter(file -> String.valueOf(file.getFileName()).matches(NAME)).toList();
    } catch (IOException | UncheckedIOException absent) {
      return List.of();
    }
  }

  private static List<Path> cached() {
    try {
      Process ldconfig = new ProcessBuilder(LDCONFIG.toString(), "-p").start();
      return ldconfig
          .inputReader()
          .lines()
          .map(CACHED::matcher)
          .filter(Matcher::matches)
          .map(line -> Path.of(line.group(1)))
          .toList();
    } catch (IOException | UncheckedIOException none) {
      return List.of();
    }
  }

  /** Maps a library if possible; otherwise the bridge finds it when a process maps it. */
  private void map(Path library) {
    try (FileDescriptor file = FileDescriptor.forReading(library)) {
      mappings.add(Mapping.executable(file.number(), Files.size(library)));
    } catch (IOException | SystemCallException refused) {
      return;
    }
  }

  @Override
  public void close() {
    mappings.forEach(Mapping::close);
  }
}
