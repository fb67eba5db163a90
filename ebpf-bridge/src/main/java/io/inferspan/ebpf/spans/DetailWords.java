package io.inferspan.ebpf.spans;

import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/** Converts constants of C headers to attribute values. */
final class DetailWords {

  private static final String[] DATA_TYPES =
      """
      int8 uint8 int32 uint32 int64 uint64 float16 float32 float64 bfloat16 float8e4m3 float8e5m2
      """
          .split("\\s+");

  /** In the order of {@link #DATA_TYPES}. */
  private static final int[] DATA_TYPE_BYTES = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};

  private static final String[] REDUCTIONS = {"sum", "prod", "max", "min", "avg"};

  // From include/linux/sched.h; unchanged since Linux 4.14.
  private static final int STATE_BITS = 0x7f;
  private static final int SLEEPING = 1;
  private static final int UNINTERRUPTIBLE = 2;
  private static final int STOPPED = 4;
  private static final int TRACED = 8;

  private DetailWords() {}

  static String dataType(long detail) {
    return word(DATA_TYPES, detail >>> Integer.SIZE);
  }

  /** Returns the size of the elements in bytes; negative if the size of their type is unknown. */
  static long elementBytes(long detail, long elements) {
    long type = detail >>> Integer.SIZE;
    if (type >= DATA_TYPE_BYTES.length || elements < 0) {
      return -1;
    }
    long bytes = DATA_TYPE_BYTES[(int) type];
    return elements > Long.MAX_VALUE / bytes ? Long.MAX_VALUE : elements * bytes;
  }

  static String reduction(long detail) {
    return word(REDUCTIONS, detail & 0xffff_ffffL);
  }

  private static String word(String[] words, long index) {
    return index >= 0 && index < words.length ? words[(int) index] : "other";
  }

  static String threadState(long state) {
    return switch ((int) state & STATE_BITS) {
      case 0 -> "preempted";
      case SLEEPING -> "sleeping";
      case UNINTERRUPTIBLE -> "uninterruptible";
      case STOPPED, TRACED -> "stopped";
      default -> "other";
    };
  }

  static String queued(long detail) {
    return detail == 0 ? "woken" : "preempted";
  }

  /**
   * Returns a short name for a handle. The handle is an address, which must not leave the process;
   * equal handles of a process have equal names.
   */
  static String handle(int tgid, long handle) {
    if (handle == 0) {
      return "default";
    }
    long mixed = (handle ^ ((long) tgid << Integer.SIZE)) * 0x9e3779b97f4a7c15L;
    mixed = (mixed ^ mixed >>> 32) * 0xd6e8feb86659fd93L;
    return HexFormat.of().toHexDigits((int) (mixed >>> 32));
  }

  /**
   * Returns why some work of a request was not attributed to it, from the bits of {@code wire.h};
   * null if all of it was.
   */
  static @Nullable String shared(int reasons) {
    if ((reasons & 2) != 0) {
      return "threads";
    }
    if ((reasons & 1) != 0) {
      return "loop";
    }
    return (reasons & 4) != 0 ? "other_work" : null;
  }
}
