package io.inferspan.ebpf.context;

/**
 * Reports, while enabled, that a sampled context became current on a thread of this process.
 *
 * <p>Threads check it whenever their current context changes. The class is final, so that the check
 * is a single read of a field that rarely changes.
 */
public final class ContextSignal {

  private final Receiver receiver;
  private volatile boolean on;

  /** Receives reports on the thread whose context changed. It must be quick and never throw. */
  @FunctionalInterface
  public interface Receiver {

    /**
     * Called when a sampled span became current on a thread; {@code owner} is the number of the
     * span in the kernel's events.
     */
    void requestBegan(long owner);
  }

  /** Creates a disabled signal. */
  public ContextSignal(Receiver receiver) {
    this.receiver = receiver;
  }

  /** Enables or disables reports. */
  public void enable(boolean now) {
    on = now;
  }

  /** Returns whether reports are enabled. */
  public boolean isOn() {
    return on;
  }

  void send(SpanIds ids) {
    receiver.requestBegan(ids.owner());
  }
}
