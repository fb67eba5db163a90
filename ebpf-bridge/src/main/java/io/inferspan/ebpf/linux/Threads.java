package io.inferspan.ebpf.linux;

/** Thread ids of the kernel. */
public final class Threads {

  private static final ThreadLocal<Integer> TID =
      ThreadLocal.withInitial(() -> (int) SystemCall.GETTID.call());

  private Threads() {}

  /** Returns the calling thread's tid; for a virtual thread that of its current carrier. */
  public static int currentTid() {
    return Thread.currentThread().isVirtual() ? (int) SystemCall.GETTID.call() : TID.get();
  }
}
