package io.inferspan.ebpf.libbpf;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.linux.SystemCall;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The ids of the BPF objects that a process holds.
 *
 * <p>They are compared by id, because other processes of the machine load and unload programs at
 * the same time.
 */
public record KernelObjects(Set<Integer> programs, Set<Integer> maps, Set<Integer> links) {

  private static final Pattern NUMBER = Pattern.compile("(prog_id|map_id|link_id):\\s*(\\d+)");

  // Commands of bpf(2).
  private static final int NEXT_PROGRAM = 11;
  private static final int NEXT_MAP = 12;
  private static final int NEXT_LINK = 31;

  private static final long NO_MORE = -2;

  /** Returns the objects that a process holds now. */
  public static KernelObjects of(long pid) throws IOException {
    KernelObjects held = new KernelObjects(new TreeSet<>(), new TreeSet<>(), new TreeSet<>());
    List<Path> files;
    try (Stream<Path> open = Files.list(Path.of("/proc", Long.toString(pid), "fdinfo"))) {
      files = open.toList();
    }
    for (Path file : files) {
      held.add(read(file));
    }
    return held;
  }

  /**
   * Returns the objects that are still in the kernel.
   *
   * <p>Does not open them: a program array that is opened and closed while the kernel clears it
   * stays in the kernel.
   */
  public List<String> alive() {
    List<String> alive = new ArrayList<>();
    alive("prog", NEXT_PROGRAM, programs, alive);
    alive("map", NEXT_MAP, maps, alive);
    alive("link", NEXT_LINK, links, alive);
    return alive;
  }

  private void add(String info) {
    Matcher number = NUMBER.matcher(info);
    while (number.find()) {
      Set<Integer> kind =
          switch (number.group(1)) {
            case "prog_id" -> programs;
            case "map_id" -> maps;
            default -> links;
          };
      kind.add(Integer.valueOf(number.group(2)));
    }
  }

  private static void alive(String kind, int next, Set<Integer> numbers, List<String> alive) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment range = arena.allocate(Long.BYTES);
      for (int number : numbers) {
        range.set(JAVA_INT, 0, number - 1);
        long result = SystemCall.BPF.call(next, range.address(), Long.BYTES);
        assertThat(result).as("next %s", kind).isIn(0L, NO_MORE);
        if (result == 0 && range.get(JAVA_INT, Integer.BYTES) == number) {
          alive.add(kind + " " + number);
        }
      }
    }
  }

  /** Reads a file; empty if the descriptor was closed meanwhile. */
  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException gone) {
      return "";
    }
  }
}
