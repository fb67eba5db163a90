package io.inferspan.ebpf.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.VarHandle;

/** The {@code errno} of the calling thread's last native call. */
public final class LastError {

  private static final StructLayout LAYOUT = Linker.Option.captureStateLayout();
  private static final VarHandle ERRNO = LAYOUT.varHandle(PathElement.groupElement("errno"));

  /** A segment per thread: the JVM may overwrite the C library's errno before it is read. */
  private static final ThreadLocal<MemorySegment> SEGMENT =
      ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(LAYOUT));

  private LastError() {}

  /** Returns the error number; undefined if the call succeeded. */
  public static int errno() {
    return (int) ERRNO.get(segment(), 0L);
  }

  static Linker.Option captured() {
    return Linker.Option.captureCallState("errno");
  }

  static MemorySegment segment() {
    return SEGMENT.get();
  }
}
