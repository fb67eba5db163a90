package io.inferspan.samples.demo.engine;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;

/**
 * Calls the CUDA stand-in, whose kernels keep a stream busy without computing.
 *
 * <p>It works only with {@code libcuda.so.1} of {@code bpf/testkit}: a real driver would
 * dereference the invalid pointers that are passed here.
 */
@SuppressWarnings("restricted") // it calls native code
final class CudaDevice implements Device {

  /** The duration of each kernel. The library reads it from {@code FAKE_CUDA_KERNEL}. */
  static final long KERNEL_MILLIS = 2;

  private static final MemorySegment NOTHING = MemorySegment.NULL;
  private static final int THREADS = 256;
  private static final long TOKEN_BYTES = 4;
  private static final long CACHE_BYTES = 1L << 30;

  private final MethodHandle copyToDevice;
  private final MethodHandle launch;
  private final MethodHandle synchronize;

  /**
   * Opens the library.
   *
   * @throws IllegalArgumentException if the file is not a library, or not the stand-in
   */
  CudaDevice(Path library) {
    SymbolLookup symbols = SymbolLookup.libraryLookup(library, Arena.global());
    copyToDevice =
        function(symbols, "cuMemcpyHtoDAsync_v2", JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS);
    launch =
        function(
            symbols,
            "cuLaunchKernel",
            ADDRESS,
            JAVA_INT,
            JAVA_INT,
            JAVA_INT,
            JAVA_INT,
            JAVA_INT,
            JAVA_INT,
            JAVA_INT,
            ADDRESS,
            ADDRESS,
            ADDRESS);
    synchronize = function(symbols, "cuStreamSynchronize", ADDRESS);
    open(symbols);
  }

  /** Opens the device with the calls that an engine makes at its start. */
  private static void open(SymbolLookup symbols) {
    MethodHandle init = function(symbols, "cuInit", JAVA_INT);
    MethodHandle load = function(symbols, "cuModuleLoadData", ADDRESS, ADDRESS);
    MethodHandle allocate = function(symbols, "cuMemAlloc_v2", ADDRESS, JAVA_LONG);
    MethodHandle warmUp = function(symbols, "cuCtxSynchronize");
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment result = arena.allocate(JAVA_LONG);
      int _ = (int) init.invokeExact(0);
      int _ = (int) load.invokeExact(result, NOTHING);
      int _ = (int) allocate.invokeExact(result, CACHE_BYTES);
      int _ = (int) warmUp.invokeExact();
    } catch (Throwable e) {
      throw new AssertionError("a native call with these types does not throw", e);
    }
  }

  private static MethodHandle function(
      SymbolLookup symbols, String name, MemoryLayout... arguments) {
    MemorySegment address =
        symbols
            .find(name)
            .orElseThrow(() -> new IllegalArgumentException("the library has no function " + name));
    return Linker.nativeLinker()
        .downcallHandle(address, FunctionDescriptor.of(JAVA_INT, arguments));
  }

  @Override
  public void prefill(int tokens, long millis) {
    MemorySegment stream = stream();
    try {
      int _ = (int) copyToDevice.invokeExact(0L, NOTHING, tokens * TOKEN_BYTES, stream);
      for (long done = 0; done < millis; done += KERNEL_MILLIS) {
        launch(tokens, stream);
      }
      int _ = (int) synchronize.invokeExact(stream);
    } catch (Throwable e) {
      throw new AssertionError("a native call with these types does not throw", e);
    }
  }

  @Override
  public void token() {
    MemorySegment stream = stream();
    try {
      launch(1, stream);
      int _ = (int) synchronize.invokeExact(stream);
    } catch (Throwable e) {
      throw new AssertionError("a native call with these types does not throw", e);
    }
  }

  private void launch(int tokens, MemorySegment stream) throws Throwable {
    int grid = Math.max(1, (tokens + THREADS - 1) / THREADS);
    int _ =
        (int) launch.invokeExact(NOTHING, grid, 1, 1, THREADS, 1, 1, 0, stream, NOTHING, NOTHING);
  }

  /**
   * Returns the calling thread's stream. With its own stream, a thread does not wait for the
   * kernels of others.
   */
  private static MemorySegment stream() {
    return MemorySegment.ofAddress(Thread.currentThread().threadId() * 16);
  }
}
