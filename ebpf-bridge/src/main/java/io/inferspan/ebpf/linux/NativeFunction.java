package io.inferspan.ebpf.linux;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;

/**
 * A C function of up to six integers or pointers.
 *
 * <p>All functions are called with six machine words: both supported ABIs pass those in registers,
 * and a function ignores extra registers. With a single signature, the JVM generates a single stub,
 * which is most of the cost of a process's first native call.
 */
public final class NativeFunction {

  private static final int WORDS = 6;
  private static final FunctionDescriptor SHAPE =
      FunctionDescriptor.of(
          JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);

  private final String name;
  private final MethodHandle handle;

  @SuppressWarnings("restricted")
  NativeFunction(String name, MemorySegment address) {
    this.name = name;
    this.handle = Linker.nativeLinker().downcallHandle(address, SHAPE, LastError.captured());
  }

  /** Calls the function and returns its result as an {@code int}. */
  public int callInt(long... arguments) {
    return (int) callLong(arguments);
  }

  /** Calls the function and returns its result as a {@code long} or an address. */
  public long callLong(long... arguments) {
    long[] words = Arrays.copyOf(arguments, WORDS);
    try {
      return (long)
          handle.invokeExact(
              LastError.segment(), words[0], words[1], words[2], words[3], words[4], words[5]);
    } catch (Throwable unexpected) {
      throw new IllegalStateException("calling " + name, unexpected);
    }
  }

  @Override
  public String toString() {
    return name;
  }
}
