package io.inferspan.ebpf.ring;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** The machine's page size: 4 KiB on most machines, 16 or 64 KiB on some with AArch64. */
final class PageSize {

  private static final int SC_PAGESIZE = 30;

  private static final long BYTES = read();

  private PageSize() {}

  static long bytes() {
    return BYTES;
  }

  @SuppressWarnings("restricted")
  private static long read() {
    Linker linker = Linker.nativeLinker();
    MethodHandle sysconf =
        linker.downcallHandle(
            linker.defaultLookup().findOrThrow("sysconf"),
            FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT));
    try {
      return (long) sysconf.invokeExact(SC_PAGESIZE);
    } catch (Throwable unexpected) {
      throw new IllegalStateException("reading the page size", unexpected);
    }
  }
}
