package io.inferspan.ebpf.libbpf.feature;

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

/** Probes one feature of the kernel by trying {@code bpf(2)} or {@code perf_event_open(2)}. */
final class FeatureProbe {

  private static final int ARRAY = 2;
  private static final int UPROBE_PROGRAM = 2;

  /** {@code r0 = 0; exit}. */
  private static final long[] TRIVIAL_PROGRAM = {0xb7, 0x95};

  private static final Path UPROBE_TYPE = Path.of("/sys/bus/event_source/devices/uprobe/type");
  private static final int PERF_ATTRIBUTES_BYTES = 112;
  private static final int PERF_CLOEXEC = 8;

  private FeatureProbe() {}

  /** Returns the error number of the attempt; 0 if it succeeded. */
  static int error(KernelFeature feature) {
    try (Arena arena = Arena.ofConfined()) {
      return switch (feature) {
        case MAPS -> discard(array(arena));
        case PROGRAMS -> discard(program(arena, UprobeMode.PERF));
        case UPROBE_MULTI -> link(arena, UprobeMode.MULTI);
        case UPROBE_SESSION -> link(arena, UprobeMode.SESSION);
        case PERF_UPROBES -> perfUprobe(arena);
      };
    }
  }

  private static long array(Arena arena) {
    return BpfCommand.MAP_CREATE.call(
        Arguments.in(arena).word(0, ARRAY).word(4, 4).word(8, 4).word(12, 1));
  }

  private static long program(Arena arena, UprobeMode mode) {
    return BpfCommand.PROG_LOAD.call(
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
          BpfCommand.LINK_CREATE.call(
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
