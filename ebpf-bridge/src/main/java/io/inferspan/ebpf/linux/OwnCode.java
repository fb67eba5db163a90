package io.inferspan.ebpf.linux;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;

/**
 * A file in memory with machine code: a function, a loop that calls it, and a loop that makes a
 * short system call.
 *
 * <p>Only this process maps the file, so a probe on the function costs no other process anything.
 * Loops in Java would measure the JVM's compiler.
 */
public final class OwnCode implements AutoCloseable {

  private static final boolean ARM = SystemView.architecture().equals("aarch64");

  /**
   * {@code push %rbp; pop %rbp; ret}, because most functions begin with that push; on AArch64,
   * {@code nop; ret}.
   */
  private static final String FUNCTION = ARM ? "1f2003d5c0035fd6" : "555dc3";

  /** Calls the function as often as the first argument says. */
  private static final String CALLS =
      ARM ? "fd7bbfa9fbffff9700040071c1ffff54fd7bc1a8c0035fd6" : "e8ebffffffffcf75f7c3";

  /** Calls {@code getpid} as often as the first argument says. */
  private static final String SYSTEM_CALLS =
      ARM ? "e903002a881580d2010000d429050071a1ffff54c0035fd6" : "b8270000000f05ffcf75f5c3";

  private static final int CALLS_AT = 16;
  private static final int SYSTEM_CALLS_AT = 48;
  private static final int BYTES = 96;

  private static final long CLOSE_ON_EXEC = 1;
  private static final int TIMES = 200;
  private static final int BATCHES = 8;

  private final FileDescriptor file;
  private final Mapping mapping;
  private final NativeFunction calls;
  private final NativeFunction systemCalls;

  private OwnCode(FileDescriptor file) {
    this.file = file;
    this.mapping = Mapping.executable(file.number(), BYTES);
    this.calls = new NativeFunction("calls", mapping.memory().asSlice(CALLS_AT));
    this.systemCalls = new NativeFunction("systemCalls", mapping.memory().asSlice(SYSTEM_CALLS_AT));
  }

  /** Creates and maps the file. */
  public static OwnCode map() {
    return map(FUNCTION);
  }

  /** Creates and maps a file with another function of at most 16 bytes, in hexadecimal digits. */
  public static OwnCode map(String function) {
    FileDescriptor file = inMemory();
    try {
      ByteBuffer code = ByteBuffer.allocate(BYTES);
      code.put(0, HexFormat.of().parseHex(function));
      code.put(CALLS_AT, HexFormat.of().parseHex(CALLS));
      code.put(SYSTEM_CALLS_AT, HexFormat.of().parseHex(SYSTEM_CALLS));
      Files.write(file.path(), code.array());
      return new OwnCode(file);
    } catch (IOException refused) {
      file.close();
      throw new UncheckedIOException(refused);
    } catch (SystemCallException refused) {
      file.close();
      throw refused;
    }
  }

  private static FileDescriptor inMemory() {
    try (Arena arena = Arena.ofConfined()) {
      long name = arena.allocateFrom("inferspan").address();
      String attempt = "creating a file in memory";
      return new FileDescriptor(
          (int) SystemCall.MEMFD_CREATE.callOrThrow(attempt, name, CLOSE_ON_EXEC));
    }
  }

  /** Returns the path of the file in this process; the function is at its beginning. */
  public Path path() {
    return file.path();
  }

  /** Measures the CPU time of one call of the function, in nanoseconds. */
  public double callNanos() {
    return nanos(calls);
  }

  /** Measures the CPU time of one short system call, in nanoseconds. */
  public double systemCallNanos() {
    return nanos(systemCalls);
  }

  /**
   * Returns the time of one pass through the loop. Subtracts the time of a run with a single pass,
   * so that the call from Java does not count.
   */
  private static double nanos(NativeFunction loop) {
    return (double) (least(loop, TIMES + 1) - least(loop, 1)) / TIMES;
  }

  /**
   * Returns the shortest time of several runs of the loop, because interrupts lengthen some of
   * them.
   */
  private static long least(NativeFunction loop, int times) {
    long least = Long.MAX_VALUE;
    for (int batch = 0; batch < BATCHES; batch++) {
      long began = Clocks.threadCpuNanos(0);
      long ignored = loop.callLong(times);
      least = Math.min(least, Clocks.threadCpuNanos(0) - began);
    }
    return least;
  }

  @Override
  public void close() {
    mapping.close();
    file.close();
  }
}
