package io.inferspan.ebpf.linux;

import java.lang.foreign.MemorySegment;

/** What native code gives a pointer to. */
public final class Memory {

  /**
   * All that can be addressed. Nothing is checked on the way, neither bounds nor whether it is
   * still mapped, so that reading costs what it costs in C: only for who knows both of a whole
   * batch.
   */
  public static final MemorySegment EVERYWHERE = at(0, Long.MAX_VALUE);

  private Memory() {}

  /** The NUL-terminated string at an address. */
  public static String string(long address) {
    return at(address, Long.MAX_VALUE).getString(0);
  }

  /** A view of so many bytes at an address, for as long as the caller knows them to be there. */
  @SuppressWarnings("restricted")
  public static MemorySegment at(long address, long byteSize) {
    return MemorySegment.ofAddress(address).reinterpret(byteSize);
  }
}
