package io.inferspan.ebpf.libbpf.loaded;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.inferspan.ebpf.libbpf.BpfCommand;
import io.inferspan.ebpf.libbpf.BpfCommand.Arguments;
import io.inferspan.ebpf.libbpf.BpfException;
import io.inferspan.ebpf.libbpf.BpfObject;
import io.inferspan.ebpf.libbpf.RunStats;
import io.inferspan.ebpf.linux.Errno;
import io.inferspan.ebpf.linux.FileDescriptor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A program in the kernel, loaded by any process.
 *
 * @param number the program's id
 * @param name the first 15 characters of its name
 * @param loadedNanos when it was loaded, in nanoseconds since boot
 * @param runs its runs, as far as run statistics were enabled
 * @param maps the ids of its maps
 */
public record LoadedProgram(
    int number, String name, long loadedNanos, RunStats runs, Set<Integer> maps) {

  private static final String REMEDY = "run as root, or with CAP_SYS_ADMIN";
  private static final int NONE = 0;
  private static final int MAX_MAPS = 64;
  private static final int INFO_BYTES = 208;
  private static final int LOADED_AT = 40;
  private static final int MAP_COUNT_AT = 52;
  private static final int MAPS_AT = 56;
  private static final int NAME_AT = 64;

  /** Copies the set. */
  public LoadedProgram {
    maps = Set.copyOf(maps);
  }

  /** Returns all programs of the machine; needs CAP_SYS_ADMIN. */
  public static List<LoadedProgram> all() {
    List<LoadedProgram> programs = new ArrayList<>();
    for (int number = after(0); number != NONE; number = after(number)) {
      LoadedProgram program = find(number);
      if (program != null) {
        programs.add(program);
      }
    }
    return programs;
  }

  /** Returns whether a program is still loaded. */
  public static boolean isLoaded(int number) {
    return find(number) != null;
  }

  /** Opens a program by its id; returns null if it is no longer loaded. */
  public static @Nullable FileDescriptor open(int number) {
    try (Arena arena = Arena.ofConfined()) {
      long result = BpfCommand.PROG_GET_FD_BY_ID.call(Arguments.in(arena).word(0, number));
      return Errno.isError(result) ? null : new FileDescriptor((int) result);
    }
  }

  private static int after(int number) {
    try (Arena arena = Arena.ofConfined()) {
      Arguments arguments = Arguments.in(arena).word(0, number);
      long result = BpfCommand.PROG_GET_NEXT_ID.call(arguments);
      if (Errno.isError(result)) {
        requireEnd((int) -result);
        return NONE;
      }
      return arguments.wordAt(4);
    }
  }

  private static void requireEnd(int errno) {
    if (!Errno.ENOENT.is(errno)) {
      throw new BpfException(
          "the kernel does not list its programs, " + Errno.describe(errno), REMEDY, "");
    }
  }

  /** Returns a program by its id; null if it is no longer loaded. */
  public static @Nullable LoadedProgram find(int number) {
    try (Arena arena = Arena.ofConfined();
        FileDescriptor program = open(number)) {
      return program == null ? null : describe(program.number(), number, arena);
    }
  }

  private static LoadedProgram describe(int fd, int number, Arena arena) {
    MemorySegment numbers = arena.allocate(JAVA_INT, MAX_MAPS);
    MemorySegment info = arena.allocate(INFO_BYTES, Long.BYTES);
    info.set(JAVA_INT, MAP_COUNT_AT, MAX_MAPS);
    info.set(JAVA_LONG, MAPS_AT, numbers.address());
    BpfObject.describe(fd, info, "program " + number);
    Set<Integer> maps = new LinkedHashSet<>();
    for (int i = 0; i < Math.min(info.get(JAVA_INT, MAP_COUNT_AT), MAX_MAPS); i++) {
      maps.add(numbers.getAtIndex(JAVA_INT, i));
    }
    return new LoadedProgram(
        number, info.getString(NAME_AT), info.get(JAVA_LONG, LOADED_AT), RunStats.in(info), maps);
  }
}
