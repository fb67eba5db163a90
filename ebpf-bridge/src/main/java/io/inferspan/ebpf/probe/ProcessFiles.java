package io.inferspan.ebpf.probe;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads data about processes from {@code /proc}. Methods return empty values for a process that has
 * exited or is hidden.
 */
final class ProcessFiles {

  private static final int MAX_MAPPINGS = 65_536;
  private static final int DECIMAL = 10;

  /** An executable mapping of a file: its range, device, inode and path. */
  private static final Pattern MAPPING =
      Pattern.compile("([0-9a-f]+-[0-9a-f]+) ..x. [0-9a-f]+ ([0-9a-f:]+) ([0-9]{1,18}) +(/.*)");

  // Indices of fields in stat, counted after the name, which may contain anything.
  private static final int PARENT = 1;
  private static final int STARTED = 19;

  private static final String DELETED = " (deleted)";

  private final Path proc;

  ProcessFiles(Path proc) {
    this.proc = proc;
  }

  /** A process, with its start time because pids are reused. */
  record Identity(int pid, long startTicks) {}

  /** The identity of a file, independent of its path. */
  record FileId(String device, long inode) {}

  /** A version of an executable; a file that is replaced or written to becomes another version. */
  record ProgramFile(@Nullable Object file, FileTime changed) {}

  /** A library's file name, and a path that opens the mapped file. */
  record Mapped(String name, Path path) {}

  /** Returns the identity of a process; null if it does not exist. */
  @Nullable Identity find(int pid) {
    long started = stat(pid, STARTED);
    return started < 0 ? null : new Identity(pid, started);
  }

  /** Returns the files with a wanted name that a process maps as executable. */
  Map<FileId, Mapped> libraries(Identity process, Predicate<String> wantedName) {
    Map<FileId, Mapped> libraries = new LinkedHashMap<>();
    for (String line : lines(path(process.pid(), "maps"))) {
      if (!wantedName.test(name(line))) {
        continue; // Excludes most lines faster than the pattern does.
      }
      Matcher mapping = MAPPING.matcher(line);
      if (mapping.matches()) {
        String name = name(mapping.group(4));
        FileId file = new FileId(mapping.group(2), Long.parseLong(mapping.group(3)));
        libraries.computeIfAbsent(
            file, id -> new Mapped(name, reachable(process.pid(), mapping, id)));
      }
    }
    return libraries;
  }

  /** Returns the file name of a process's executable; empty if it cannot be read. */
  String program(int pid) {
    try {
      return name(Files.readSymbolicLink(path(pid, "exe")).toString());
    } catch (IOException | UnsupportedOperationException hidden) {
      return "";
    }
  }

  /** Returns the version of a process's executable; null if it cannot be read. */
  @Nullable ProgramFile programFile(int pid) {
    try {
      BasicFileAttributes seen = Files.readAttributes(path(pid, "exe"), BasicFileAttributes.class);
      return new ProgramFile(seen.fileKey(), seen.lastModifiedTime());
    } catch (IOException hidden) {
      return null;
    }
  }

  /** Returns the pids of all processes. */
  List<Integer> all() {
    List<Integer> pids = new ArrayList<>();
    try (DirectoryStream<Path> entries = Files.newDirectoryStream(proc)) {
      for (Path entry : entries) {
        String name = entry.getFileName().toString();
        if (name.chars().allMatch(Character::isDigit)) {
          pids.add(Integer.valueOf(name));
        }
      }
    } catch (IOException | DirectoryIteratorException hidden) {
      return List.of();
    }
    return pids;
  }

  /** Returns the parent's pid; 0 if there is none. */
  int parent(int pid) {
    return (int) Math.max(0, stat(pid, PARENT));
  }

  /** Returns a field of {@code stat} after the name; -1 if it cannot be read. */
  private long stat(int pid, int field) {
    String stat = text(path(pid, "stat"));
    int at = stat.lastIndexOf(')') + 2;
    for (int i = 0; i < field && at > 0; i++) {
      at = stat.indexOf(' ', at) + 1;
    }
    int end = stat.indexOf(' ', at);
    return at < 2 || end <= at ? -1 : Long.parseLong(stat, at, end, DECIMAL);
  }

  /** Returns the first argument of a process, which is its title if it has set one. */
  String title(int pid) {
    return arguments(pid).findFirst().orElse("");
  }

  private Stream<String> arguments(int pid) {
    return Stream.of(String.join("", lines(path(pid, "cmdline"))).split("\0", 3)).limit(2);
  }

  /** Returns the names of a process: its own, its executable's, and that of the script it runs. */
  Set<String> names(int pid) {
    Set<String> names = new LinkedHashSet<>();
    lines(path(pid, "comm")).forEach(names::add);
    names.add(program(pid));
    // A script follows its interpreter.
    arguments(pid).map(ProcessFiles::name).forEach(names::add);
    return names;
  }

  /** Returns a process's directory in the cgroup v2 hierarchy; empty if there is none. */
  String cgroup(int pid) {
    return cgroups(pid).stream()
        .filter(line -> line.startsWith("0::"))
        .map(line -> line.substring(3))
        .findFirst()
        .orElse("");
  }

  /** Returns the lines of {@code /proc/PID/cgroup}: hierarchy, controllers and directory. */
  List<String> cgroups(int pid) {
    return lines(path(pid, "cgroup"));
  }

  /** Returns the file name of a path, also if the file was deleted. */
  private static String name(String path) {
    String whole =
        path.endsWith(DELETED) ? path.substring(0, path.length() - DELETED.length()) : path;
    return whole.substring(whole.lastIndexOf('/') + 1);
  }

  /**
   * Returns a path to the mapped file: through the process's mount namespace, or through {@code
   * map_files} if the file was replaced.
   */
  private Path reachable(int pid, Matcher mapping, FileId file) {
    Path seen = path(pid, "root" + mapping.group(4));
    try {
      if (((Number) Files.getAttribute(seen, "unix:ino")).longValue() == file.inode()) {
        return seen;
      }
    } catch (IOException | UnsupportedOperationException replaced) {
      // The path in map_files is valid as long as the file is mapped.
    }
    return path(pid, "map_files/" + mapping.group(1));
  }

  private Path path(int pid, String file) {
    return proc.resolve(Integer.toString(pid)).resolve(file);
  }

  private static List<String> lines(Path file) {
    return text(file).lines().limit(MAX_MAPPINGS).toList();
  }

  private static String text(Path file) {
    try {
      return new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
    } catch (IOException gone) {
      return "";
    }
  }
}
