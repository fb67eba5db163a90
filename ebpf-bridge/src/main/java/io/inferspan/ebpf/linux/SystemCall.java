package io.inferspan.ebpf.linux;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;

/** A system call that the bridge makes. */
public enum SystemCall {
  MMAP(9, 222),
  MUNMAP(11, 215),
  CLOSE(3, 57),
  OPENAT(257, 56),
  GETTID(186, 178),
  KILL(62, 129),
  SETPRIORITY(141, 140),
  EPOLL_CREATE(291, 20),
  EPOLL_CTL(233, 21),
  EPOLL_PWAIT(281, 22),
  PERF_EVENT_OPEN(298, 241),
  MEMFD_CREATE(319, 279),
  BPF(321, 280);

  private static final int WORDS = 6;
  private static final boolean ARM = System.getProperty("os.arch").equals("aarch64");

  private final int onX86;
  private final int onArm;

  SystemCall(int onX86, int onArm) {
    this.onX86 = onX86;
    this.onArm = onArm;
  }

  /** Makes the call; returns its result, or the negated error number. */
  public long call(long... arguments) {
    long[] words = Arrays.copyOf(arguments, WORDS);
    long result;
    try {
      result =
          (long)
              Handle.SYSCALL.invokeExact(
                  LastError.segment(),
                  (long) (ARM ? onArm : onX86),
                  words[0],
                  words[1],
                  words[2],
                  words[3],
                  words[4],
                  words[5]);
    } catch (Throwable unexpected) {
      throw new IllegalStateException("calling " + name(), unexpected);
    }
    return result == -1 ? -LastError.errno() : result;
  }

  /** Makes the call; throws an exception with {@code attempt} in its message if it fails. */
  public long callOrThrow(String attempt, long... arguments) {
    long result = call(arguments);
    if (Errno.isError(result)) {
      throw new SystemCallException(attempt, (int) -result);
    }
    return result;
  }

  /** A separate class, so that the enum can be loaded without native access. */
  private static final class Handle {

    static final MethodHandle SYSCALL = handle();

    @SuppressWarnings("restricted")
    private static MethodHandle handle() {
      FunctionDescriptor shape =
          FunctionDescriptor.of(
              JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG,
              JAVA_LONG);
      return Linker.nativeLinker()
          .downcallHandle(
              NativeLibrary.c().address("syscall"),
              shape,
              Linker.Option.firstVariadicArg(1),
              LastError.captured());
    }
  }
}
