package io.inferspan.ebpf.libbpf;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.inferspan.ebpf.linux.SystemCall;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Commands of {@code bpf(2)} that the bridge runs without libbpf. */
public enum BpfCommand {
  MAP_CREATE(0),
  MAP_LOOKUP(1),
  MAP_UPDATE(2),
  MAP_DELETE(3),
  MAP_GET_NEXT_KEY(4),
  PROG_LOAD(5),
  OBJ_PIN(6),
  OBJ_GET(7),
  PROG_RUN(10),
  PROG_GET_NEXT_ID(11),
  PROG_GET_FD_BY_ID(13),
  MAP_GET_FD_BY_ID(14),
  OBJ_GET_INFO_BY_FD(15),
  MAP_LOOKUP_AND_DELETE(21),
  LINK_CREATE(28),
  ENABLE_STATS(32),
  PROG_BIND_MAP(35);

  /** The size of the arguments: more than any of these commands needs; the excess must be zero. */
  private static final int BYTES = 128;

  private final int number;

  BpfCommand(int number) {
    this.number = number;
  }

  /** Runs the command; returns the kernel's result, negative for an error. */
  public long call(Arguments arguments) {
    return SystemCall.BPF.call(number, arguments.memory.address(), BYTES);
  }

  /** The arguments of one command, at the kernel's offsets; all other bytes are zero. */
  public static final class Arguments {

    private final MemorySegment memory;

    private Arguments(Arena arena) {
      this.memory = arena.allocate(BYTES, Long.BYTES);
    }

    /** Creates empty arguments. */
    public static Arguments in(Arena arena) {
      return new Arguments(arena);
    }

    /** Sets 32 bits. */
    public Arguments word(int offset, int value) {
      memory.set(JAVA_INT, offset, value);
      return this;
    }

    /** Sets 64 bits. */
    public Arguments wide(int offset, long value) {
      memory.set(JAVA_LONG, offset, value);
      return this;
    }

    /** Sets an address. */
    public Arguments pointer(int offset, MemorySegment to) {
      return wide(offset, to.address());
    }

    /** Sets a name. */
    public Arguments text(int offset, String value) {
      memory.setString(offset, value);
      return this;
    }

    /** Returns 32 bits that the kernel wrote. */
    public int wordAt(int offset) {
      return memory.get(JAVA_INT, offset);
    }
  }
}
