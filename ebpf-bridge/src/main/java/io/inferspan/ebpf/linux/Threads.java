package io.inferspan.ebpf.linux;

/** The kernel's name of the calling thread. */
public final class Threads {

  private static final ThreadLocal<Integer> TID =
      ThreadLocal.withInitial(() -> (int) SystemCall.GETTID.call());

  private Threads() {}

  /** The thread id; of a virtual thread that of its carrier, which may be another by now. */
  public static int currentTid() {
    return Thread.currentThread().isVirtual() ? (int) SystemCall.GETTID.call() : TID.get();
  }
}
