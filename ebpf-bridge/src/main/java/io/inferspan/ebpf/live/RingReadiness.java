package io.inferspan.ebpf.live;

import io.inferspan.ebpf.TracingBudget;
import io.inferspan.ebpf.kernel.KernelSettings;
import io.inferspan.ebpf.linux.Epoll;
import io.inferspan.ebpf.ring.ReaderState;
import io.inferspan.ebpf.ring.RingThread;
import org.jspecify.annotations.Nullable;

/** How the ring's thread waits for events; with a tight budget, it reads less often. */
record RingReadiness(Epoll epoll, KernelSettings settings, @Nullable TracingBudget budget)
    implements RingThread.Readiness {

  @Override
  public boolean await(int timeoutMillis) {
    return epoll.await(timeoutMillis);
  }

  @Override
  public int longestWaitMillis() {
    boolean tight = budget != null && CostMeter.isTight(budget);
    return (tight ? 2 : 1) * RingThread.LONGEST_WAIT_MILLIS;
  }

  @Override
  public void setReaderState(ReaderState state) {
    settings.setReaderState(state);
  }
}
