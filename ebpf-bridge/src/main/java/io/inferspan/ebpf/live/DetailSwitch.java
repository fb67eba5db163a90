package io.inferspan.ebpf.live;

import io.inferspan.ebpf.LaunchDetail;
import io.inferspan.ebpf.kernel.KernelSettings;
import io.inferspan.ebpf.kernel.KernelSide;
import io.inferspan.ebpf.linux.Clocks;
import io.inferspan.ebpf.probe.CallPrograms;
import io.inferspan.ebpf.probe.LibraryProbes;
import io.inferspan.ebpf.spans.LevelTimeline;
import io.inferspan.ebpf.wire.DetailLevel;
import io.inferspan.ebpf.wire.DetailLevels;
import io.inferspan.ebpf.wire.EventClass;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Sets the detail level of each event class, and attaches and detaches its probes.
 *
 * <p>While the bridge sleeps, because no request was sampled for a while, the classes SCHED, CALLS
 * and LAUNCHES are detached, whatever level was set.
 */
final class DetailSwitch {

  private static final DetailLevels ASLEEP =
      DetailLevels.FULL
          .with(EventClass.SCHED, DetailLevel.DETACHED)
          .with(EventClass.CALLS, DetailLevel.DETACHED)
          .with(EventClass.LAUNCHES, DetailLevel.DETACHED);

  private static final List<EventClass> LAST_SHED_FIRST = List.of(EventClass.values()).reversed();

  private final KernelSide kernel;
  private final KernelSettings settings;
  private final LevelTimeline timeline;
  private final DetailLevels ceiling;
  private DetailLevels wanted;
  private boolean asleep;
  private boolean collectivesOff;

  /** Whether the budget keeps the probes on collectives detached until the bridge wakes. */
  private boolean collectivesPaused;

  private boolean tcp = true;
  private volatile DetailLevels now = DetailLevels.FULL;
  private volatile Map<EventClass, Double> next = Map.of();

  /** Creates a switch that never gives launches more detail than {@code launches}. */
  DetailSwitch(
      KernelSide kernel, KernelSettings settings, LevelTimeline timeline, LaunchDetail launches) {
    DetailLevel most = DetailLevel.valueOf(launches.name());
    boolean slow = most == DetailLevel.DETACHED && !kernel.detachesQuickly();
    this.ceiling = DetailLevels.FULL.with(EventClass.LAUNCHES, slow ? DetailLevel.COUNTED : most);
    this.wanted = ceiling;
    this.kernel = kernel;
    this.settings = settings;
    this.timeline = timeline;
    apply();
  }

  /** Returns the current levels. */
  DetailLevels now() {
    return now;
  }

  /**
   * Returns the estimated cost of tracing at the next higher level of a class, relative to the
   * budget; 0 if the class is in full detail or there is no budget.
   */
  double next(EventClass events) {
    return next.getOrDefault(events, 0.0);
  }

  /** Sets the costs that {@link #next} returns, of these classes only. */
  void expect(Map<EventClass, Double> costs) {
    Map<EventClass, Double> all = new HashMap<>(next);
    all.putAll(costs);
    next = Map.copyOf(all);
  }

  /** Sets the levels for the time when the bridge does not sleep. */
  synchronized void set(DetailLevels levels) {
    wanted = levels.lowest(ceiling);
    apply();
  }

  synchronized void sleep() {
    asleep = true;
    apply();
  }

  synchronized void wake() {
    asleep = false;
    collectivesPaused = false;
    apply();
  }

  /** Returns whether the bridge sleeps; waits for a change that is being applied. */
  synchronized boolean isAsleep() {
    return asleep;
  }

  /** Detaches the probes on collectives until the bridge wakes. */
  synchronized void pauseCollectives() {
    collectivesPaused = asleep;
    apply();
  }

  /**
   * Applies the wanted levels. The probes on collectives are attached first and detached last, so
   * that no reported collective has a wrong sequence number.
   */
  private void apply() {
    boolean off = collectivesPaused || isOff(wanted, EventClass.CALLS);
    if (!off) {
      setCollectives(false);
    }
    applyLevels();
    if (off) {
      setCollectives(true);
    }
  }

  /**
   * Applies the levels: attaches probes before the programs report their events, and detaches
   * probes after the programs have stopped reporting.
   */
  private void applyLevels() {
    DetailLevels next = asleep ? wanted.lowest(ASLEEP) : wanted;
    if (next.equals(now)) {
      setTcp(hasTcp(next));
      settings.setAsleep(asleep);
      return;
    }
    for (EventClass events : LAST_SHED_FIRST) {
      if (isOff(now, events) && !isOff(next, events)) {
        kernel.attach(events);
        settings.attached(events, Clocks.monotonicNanos());
      }
    }
    setTcp(hasTcp(next));
    timeline.note(next, Clocks.monotonicNanos());
    settings.setLevels(next);
    settings.setAsleep(asleep);
    for (EventClass events : EventClass.values()) {
      if (!isOff(now, events) && isOff(next, events)) {
        kernel.detach(events);
      }
    }
    now = next;
  }

  /**
   * Attaches or detaches the programs of TCP events. While they were detached, the kernel may have
   * reused the addresses of closed sockets, so the senders that were recorded before are ignored.
   */
  private void setTcp(boolean attached) {
    kernel.setTcp(attached);
    if (attached && !tcp) {
      settings.attached(EventClass.SCHED, Clocks.monotonicNanos());
    }
    tcp = attached;
  }

  /**
   * Returns whether the programs of TCP events stay attached. If only {@link EventClass#SCHED} is
   * detached, they stay attached but report nothing, because detaching them and attaching them
   * again would cost more. What they observed meanwhile is ignored after the scheduler's programs
   * are attached again.
   */
  private boolean hasTcp(DetailLevels levels) {
    return !asleep && !isOff(levels, EventClass.REQUESTS);
  }

  /**
   * Detaches the probes on collectives, or attaches them again. Collectives that are missed make
   * the sequence numbers of later ones wrong, so the communicators are removed before the change,
   * and those created meanwhile after it.
   */
  private void setCollectives(boolean off) {
    if (off == collectivesOff) {
      return;
    }
    collectivesOff = off;
    kernel.forgetCommunicators();
    for (LibraryProbes probes : kernel.libraries()) {
      if (off) {
        probes.pause(CallPrograms.COLLECTIVES);
      } else {
        probes.resume(CallPrograms.COLLECTIVES);
      }
    }
    kernel.forgetCommunicators();
  }

  private static boolean isOff(DetailLevels levels, EventClass events) {
    return levels.of(events) == DetailLevel.DETACHED;
  }
}
