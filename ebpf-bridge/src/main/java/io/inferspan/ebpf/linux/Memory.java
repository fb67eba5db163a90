package io.inferspan.ebpf.linux;

import java.lang.foreign.MemorySegment;

/** Access to memory behind native pointers. */
public final class Memory {

  /**
   * The whole address space. A read checks neither bounds nor validity, so it is as fast as in C.
   * Use it only for memory that is known to be mapped; one check may serve a batch of reads.
   */
  public static final MemorySegment EVERYWHERE = at(0, Long.MAX_VALUE);

  private Memory() {}

  /** Returns the NUL-terminated string at an address. */
  public static String string(long address) {
    return at(address, Long.MAX_VALUE).getString(0);
  }

  /** Returns a view of memory at an address, which the caller must know to be valid. */
  @SuppressWarnings("restricted")
  public static MemorySegment at(long address, long byteSize) {
    return MemorySegment.ofAddress(address).reinterpret(byteSize);
  }
}
