package io.inferspan.ebpf.libbpf.feature;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.inferspan.ebpf.libbpf.BpfCommand;
import io.inferspan.ebpf.libbpf.BpfCommand.Arguments;
import io.inferspan.ebpf.libbpf.UprobeMode;
import io.inferspan.ebpf.linux.Errno;
import io.inferspan.ebpf.linux.FileDescriptor;
import io.inferspan.ebpf.linux.SystemCall;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;

/** Probes one feature of the kernel, using {@code bpf(2)} only. */
final class FeatureProbe {

  private static final int ARRAY = 2;
  private static final int RING_BUFFER = 27;
  private static final int TASK_STORAGE = 29;
  private static final int RING_BYTES = 64 * 1024;
  private static final int NO_PREALLOCATION = 1;
  private static final int UPROBE_PROGRAM = 2;

  /** {@code r0 = 0; exit}. */
  private static final long[] TRIVIAL_PROGRAM = {0xb7, 0x95};

  /** BTF with a single type, {@code int}, as the key and the value of a task storage. */
  private static final byte[] ONE_INT =
      HexFormat.of()
          .parseHex(
              "9feb010018000000000000001000000010000000050000000100000000000001040000002000000100"
                  + "696e7400");

  private static final Path UPROBE_TYPE = Path.of("/sys/bus/event_source/devices/uprobe/type");
  private static final int PERF_ATTRIBUTES_BYTES = 112;
  private static final int PERF_CLOEXEC = 8;

  private FeatureProbe() {}

  /** Returns the error number of the attempt; 0 if it succeeded. */
  static int error(KernelFeature feature) {
    try (Arena arena = Arena.ofConfined()) {
      return switch (feature) {
        case MAPS -> discard(map(arena, ARRAY, 4, 4, 1));
        case PROGRAMS -> discard(program(arena, UprobeMode.PERF));
        case RING_BUFFER -> discard(map(arena, RING_BUFFER, 0, 0, RING_BYTES));
        case TASK_STORAGE -> discard(taskStorage(arena));
        case UPROBE_MULTI -> link(arena, UprobeMode.MULTI);
        case UPROBE_SESSION -> link(arena, UprobeMode.SESSION);
        case PERF_UPROBES -> perfUprobe(arena);
      };
    }
  }

  private static long map(Arena arena, int type, int keySize, int valueSize, int entries) {
    return BpfCommand.MAP_CREATE.give(
        Arguments.in(arena).word(0, type).word(4, keySize).word(8, valueSize).word(12, entries));
  }

  private static long taskStorage(Arena arena) {
    MemorySegment types = arena.allocateFrom(JAVA_BYTE, ONE_INT);
    long btf =
        BpfCommand.BTF_LOAD.give(
            Arguments.in(arena).pointer(0, types).word(16, (int) types.byteSize()));
    if (Errno.isError(btf)) {
      return btf;
    }
    try (FileDescriptor open = new FileDescriptor((int) btf)) {
      return BpfCommand.MAP_CREATE.give(
          Arguments.in(arena)
              .word(0, TASK_STORAGE)
              .word(4, Integer.BYTES)
              .word(8, Integer.BYTES)
              .word(16, NO_PREALLOCATION)
              .word(48, open.number())
              .word(52, 1)
              .word(56, 1));
    }
  }

  private static long program(Arena arena, UprobeMode mode) {
    return BpfCommand.PROG_LOAD.give(
        Arguments.in(arena)
            .word(0, UPROBE_PROGRAM)
            .word(4, TRIVIAL_PROGRAM.length)
            .pointer(8, arena.allocateFrom(JAVA_LONG, TRIVIAL_PROGRAM))
            .pointer(16, arena.allocateFrom("GPL"))
            .word(68, mode.attachType()));
  }

  /** Tries to link a program to a directory; a kernel that supports the link type answers EBADF. */
  private static int link(Arena arena, UprobeMode mode) {
    long program = program(arena, mode);
    if (Errno.isError(program)) {
      return (int) -program;
    }
    try (FileDescriptor open = new FileDescriptor((int) program)) {
      long result =
          BpfCommand.LINK_CREATE.give(
              Arguments.in(arena)
                  .word(0, open.number())
                  .word(8, mode.attachType())
                  .pointer(16, arena.allocateFrom("/"))
                  .pointer(24, arena.allocateFrom(JAVA_LONG, 0L))
                  .word(48, 1));
      return Errno.EBADF.is(result) ? 0 : discard(result);
    }
  }

  /**
   * Tries to open a uprobe event for a missing file; a kernel that supports the event answers
   * ENOENT.
   */
  private static int perfUprobe(Arena arena) {
    MemorySegment attributes = arena.allocate(PERF_ATTRIBUTES_BYTES, Long.BYTES);
    try {
      String type = Files.readString(UPROBE_TYPE).strip();
      attributes.set(JAVA_INT, 0, Integer.parseInt(type));
    } catch (IOException | NumberFormatException absent) {
      return Errno.ENOENT.number();
    }
    attributes.set(JAVA_INT, 4, PERF_ATTRIBUTES_BYTES);
    attributes.set(JAVA_LONG, 56, arena.allocateFrom("/nonexistent").address());
    long result = SystemCall.PERF_EVENT_OPEN.call(attributes.address(), 0, -1, -1, PERF_CLOEXEC);
    return Errno.ENOENT.is(result) ? 0 : discard(result);
  }

  /** Closes the created object; returns the error number if there is none. */
  private static int discard(long result) {
    if (Errno.isError(result)) {
      return (int) -result;
    }
    new FileDescriptor((int) result).close();
    return 0;
  }
}
