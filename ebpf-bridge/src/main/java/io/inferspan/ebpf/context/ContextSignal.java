package io.inferspan.ebpf.context;

/**
 * Reports that a sampled context became current on a thread of this process, while enabled.
 *
 * <p>Threads check it at each context switch. It is a final class, so that the check is one read of
 * memory that rarely changes.
 */
public final class ContextSignal {

  private final Receiver receiver;
  private volatile boolean on;

  /** Receives reports, on the thread that switches: it must be quick and never throw. */
  @FunctionalInterface
  public interface Receiver {

    /** A request of this owner is being served from now on. */
    void requestBegan(long owner);
  }

  /** Creates a signal that is off. */
  public ContextSignal(Receiver receiver) {
    this.receiver = receiver;
  }

  /** Switches reports on or off. */
  public void enable(boolean now) {
    on = now;
  }

  /** Returns whether reports are wanted. */
  public boolean isOn() {
    return on;
  }

  void send(SpanIds ids) {
    receiver.requestBegan(ids.owner());
  }
}
