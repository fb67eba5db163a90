package io.inferspan.ebpf.linux;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Makes {@code bpf(2)} fail with EPERM, as the default seccomp profile of containers does. */
public final class SeccompFilter {

  private static final boolean ARM = System.getProperty("os.arch").equals("aarch64");
  private static final int SECCOMP = ARM ? 277 : 317;
  private static final long BPF = ARM ? 280 : 321;
  private static final int OPEN_TRACEPOINT = 17;
  private static final int CREATE_LINK = 28;
  private static final int SET_NO_NEW_PRIVILEGES = 38;
  private static final int SET_FILTER = 1;
  private static final int ALL_THREADS = 1;

  private SeccompFilter() {}

  /** Refuses {@code bpf(2)} to all threads of this process until it ends. */
  public static void refuseBpf() {
    install(
        instruction(0x20, 0, 0, 0), // load the number of the call
        instruction(0x15, 0, 1, BPF), // bpf?
        instruction(0x06, 0, 0, 0x0005_0001L), // EPERM
        instruction(0x06, 0, 0, 0x7fff_0000L)); // allowed
  }

  /** Refuses to attach programs, but not to load them. */
  public static void refuseAttaching() {
    install(
        instruction(0x20, 0, 0, 0), // load the number of the call
        instruction(0x15, 0, 4, BPF), // bpf?
        instruction(0x20, 0, 0, 16), // load its first argument
        instruction(0x15, 1, 0, OPEN_TRACEPOINT),
        instruction(0x15, 0, 1, CREATE_LINK),
        instruction(0x06, 0, 0, 0x0005_0001L), // EPERM
        instruction(0x06, 0, 0, 0x7fff_0000L)); // allowed
  }

  private static void install(long... program) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment filter = arena.allocate(16, 8);
      filter.set(JAVA_SHORT, 0, (short) program.length);
      filter.set(JAVA_LONG, 8, arena.allocateFrom(JAVA_LONG, program).address());
      NativeLibrary.c().function("prctl").callInt(SET_NO_NEW_PRIVILEGES, 1);
      int result =
          NativeLibrary.c()
              .function("syscall")
              .callInt(SECCOMP, SET_FILTER, ALL_THREADS, filter.address());
      if (result != 0) {
        throw new IllegalStateException(
            "a seccomp filter cannot be installed: " + Errno.describe(LastError.errno()));
      }
    }
  }

  private static long instruction(int code, int ifTrue, int ifFalse, long operand) {
    return code | (long) ifTrue << 16 | (long) ifFalse << 24 | operand << 32;
  }
}
