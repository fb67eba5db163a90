package io.inferspan.ebpf.batch;

import io.inferspan.ebpf.batch.BatchCounters.Count;
import io.inferspan.ebpf.nccl.Communicator;
import io.inferspan.ebpf.wire.EventClass;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A process that launches an engine's steps, with its requests by slot and its steps in flight.
 *
 * <p>A slot is the engine's number for a request, or for one of its parallel samples. A step ends
 * when the engine says so, and is done when the device was seen to have finished it; between the
 * two, it is in flight.
 */
final class Rank {

  /**
   * Maximum number of steps in flight; beyond it, the oldest step is treated as done although no
   * wait for it was observed.
   */
  private static final int MAX_IN_FLIGHT = 8;

  private static final int MAX_EVENTS = 256;

  final int pid;
  private final @Nullable String title;
  private final Batches batches;
  private final BatchCounters counters;
  private final Map<Integer, Entry> slots = new HashMap<>();
  private final Map<Integer, Entry> scheduled = new LinkedHashMap<>();
  private final ArrayDeque<Step> inFlight = new ArrayDeque<>();
  private final Map<Long, Recorded> events = new LinkedHashMap<>();

  /** Steps that are done, but may still get the times of their kernels. */
  private final ArrayDeque<Step> unmeasured = new ArrayDeque<>();

  final KernelTimes kernels = new KernelTimes();
  private @Nullable Step open;
  private long lastStep;
  private boolean membersKnown;
  private long deviceFreeNanos;
  private long endedNanos;

  /** What is known about a slot: its request, and its tokens in the current step. */
  private static final class Entry {

    /** Null if it is unknown or ambiguous. */
    @Nullable BatchRequest request;

    /** Tokens scheduled in the current step; 0 if the slot is not in the step. */
    int tokens;

    boolean prefill;

    /** Tokens computed so far. */
    long context;
  }

  /**
   * A recorded CUDA event: its step, and how many launches and recorded events the step had up to
   * it.
   */
  private record Recorded(Step step, long launches, long records) {

    /** Whether the step may have made more launches since. */
    boolean isEarly() {
      return step.launches > launches || (step.isLowered() && step.records > records);
    }
  }

  Rank(int pid, @Nullable String title, Batches batches, BatchCounters counters) {
    this.pid = pid;
    this.title = title;
    this.batches = batches;
    this.counters = counters;
  }

  int slots() {
    return slots.size();
  }

  void bind(int slot, @Nullable BatchRequest request) {
    Entry entry = slots.get(slot);
    if (entry == null) {
      entry = new Entry();
      slots.put(slot, entry);
    } else {
      release(entry);
    }
    entry.request = request;
    if (request != null) {
      request.slots++;
    }
  }

  Step begin(long number, Changes changes, long nanos) {
    if (open != null) {
      open.complete = false;
      end(open, nanos);
    }
    follow(number);
    if (changes.full) {
      scheduled.values().forEach(entry -> entry.tokens = 0);
      scheduled.clear();
      membersKnown = true;
    }
    for (int i = 0; i < changes.count; i++) {
      apply(changes.words[i], nanos);
    }
    counters.increment(Count.STEPS);
    Step step = membersKnown ? snapshot(number, nanos) : unknown(number, nanos);
    step.rank = title;
    step.previousEndNanos = endedNanos == 0 ? nanos : endedNanos;
    step.level = batches.level(EventClass.LAUNCHES, nanos, Long.MAX_VALUE);
    open = step;
    return step;
  }

  /** Counts missed steps; after a gap, members are unknown until a step reports all of them. */
  private void follow(long number) {
    long missed = number - lastStep - 1;
    if (missed > 0 && lastStep > 0) {
      counters.add(Count.MISSED_STEPS, missed);
      miss(missed);
    }
    membersKnown = (membersKnown && missed == 0) || number == 1;
    lastStep = number;
  }

  private void miss(long steps) {
    for (Entry entry : slots.values()) {
      if (entry.request != null) {
        entry.request.miss(steps);
      }
    }
  }

  private void apply(long change, long nanos) {
    int slot = Changes.slot(change);
    int tokens = Changes.tokens(change);
    Entry entry = slots.get(slot);
    if (Changes.isFinished(change)) {
      scheduled.remove(slot);
      if (slots.remove(slot) != null && entry != null) {
        release(entry);
        batches.writeIfEnded(entry.request, nanos + latest(nanos));
      }
    } else if (tokens == 0) {
      scheduled.remove(slot);
    } else {
      if (entry == null) {
        bind(slot, null);
        entry = slots.get(slot);
      }
      schedule(slot, entry, tokens, Changes.isPrefill(change));
    }
  }

  private void schedule(int slot, @Nullable Entry entry, int tokens, boolean prefill) {
    if (entry == null) {
      return;
    }
    boolean joined = scheduled.put(slot, entry) == null;
    if (joined && prefill) {
      entry.context = 0; // New, or computed again after a preemption.
    }
    entry.tokens = tokens;
    entry.prefill = prefill;
  }

  private static void release(Entry entry) {
    if (entry.request != null) {
      entry.request.slots--;
    }
  }

  private Step snapshot(long number, long nanos) {
    Step step = new Step(number, pid, nanos, true, scheduled.size());
    int at = 0;
    for (Entry entry : scheduled.values()) {
      BatchRequest request = entry.request;
      step.requests[at] = request;
      step.tokens[at] = entry.tokens;
      step.prefill[at] = entry.prefill;
      step.contexts[at] = entry.context;
      entry.context += entry.tokens;
      if (request == null) {
        counters.increment(Count.UNIDENTIFIED_SLOTS);
      } else {
        request.touchedNanos = nanos;
      }
      at++;
    }
    return step;
  }

  private Step unknown(long number, long nanos) {
    counters.increment(Count.UNKNOWN_STEPS);
    miss(1);
    return new Step(number, pid, nanos, false, 0);
  }

  /**
   * Ends the open step. If fewer launches were read than the BPF programs counted, some were lost.
   *
   * @param launches the BPF programs' count of launches; -1 if they did not count
   */
  void end(long number, long launches, long nanos) {
    Step step = open;
    if (step == null || step.number != number) {
      return; // Its start was lost.
    }
    step.level = batches.level(EventClass.LAUNCHES, step.beganNanos, nanos);
    step.counted = launches;
    step.complete &= step.isLowered() || (launches >= 0 && step.launches >= launches);
    end(step, nanos);
  }

  private void end(Step step, long nanos) {
    open = null;
    boolean full = batches.level(EventClass.CALLS, step.beganNanos, nanos).isEmpty();
    step.missesCalls |= !full || !step.complete;
    step.endedNanos = nanos;
    endedNanos = nanos;
    if (!step.hasLaunched() || step.synchronizedNanos > 0) {
      finishUpTo(step, Math.max(step.synchronizedNanos, deviceFreeNanos));
    } else {
      inFlight.add(step);
      if (inFlight.size() > MAX_IN_FLIGHT) {
        finishUnobserved(inFlight.element());
      }
    }
  }

  void launched(long startNanos) {
    Step step = open;
    if (step != null) {
      if (step.launches++ == 0) {
        step.firstLaunchNanos = startNanos;
      }
      step.synchronizedNanos = 0; // The wait was for earlier launches.
    }
  }

  void called(Communicator communicator, long sequence) {
    if (open != null) {
      open.called(communicator, sequence);
    }
  }

  void policyApplied() {
    if (open != null) {
      open.missesCalls = true;
    }
  }

  void recorded(long event) {
    Step step = open;
    if (step != null && (step.launches > 0 || step.isLowered())) {
      if (step.isLowered()) {
        step.synchronizedNanos = 0; // A launch that was not reported may precede the event.
      }
      events.put(event, new Recorded(step, step.launches, ++step.records));
      if (events.size() > MAX_EVENTS) {
        Iterator<Recorded> oldest = events.values().iterator();
        oldest.next();
        oldest.remove();
      }
    }
  }

  /**
   * Handles the end of a wait for an event: its step is done, unless the step made launches after
   * the event was recorded.
   */
  void eventReached(long event, long nanos) {
    Recorded recorded = events.remove(event);
    if (recorded == null || recorded.isEarly()) {
      return;
    }
    Step step = recorded.step;
    if (step.equals(open)) {
      step.synchronizedNanos = nanos;
    } else if (inFlight.contains(step)) {
      finishUpTo(step, nanos);
    }
  }

  void allDone(long nanos) {
    if (!inFlight.isEmpty()) {
      finishUpTo(inFlight.getLast(), nanos);
    }
    if (open != null && (open.launches > 0 || open.isLowered())) {
      open.synchronizedNanos = nanos;
    }
  }

  /** Treats a step as done although no wait for it was observed. */
  private void finishUnobserved(Step step) {
    step.complete = false;
    finishUpTo(step, step.endedNanos);
  }

  /** Records that {@code last} and all steps in flight before it are done. */
  private void finishUpTo(Step last, long nanos) {
    Iterator<Step> steps = inFlight.iterator();
    while (steps.hasNext()) {
      Step step = steps.next();
      steps.remove();
      if (step.equals(last)) {
        break;
      }
      // Its own wait may have been lost.
      done(step, Math.min(nanos, step.endedNanos), nanos);
    }
    done(last, nanos, nanos);
  }

  private void done(Step step, long nanos, long seenNanos) {
    boolean lost = batches.lost(step.previousEndNanos, Math.max(seenNanos, step.endedNanos));
    step.complete &= !lost;
    step.missesCalls |= lost;
    step.setBusyTime(nanos, deviceFreeNanos);
    step.later = open == null ? 0 : open.launches;
    inFlight.forEach(one -> step.later += one.launches);
    deviceFreeNanos = Math.max(deviceFreeNanos, nanos);
    batches.done(step);
    unmeasured.add(step);
    if (!kernels.areRead(nanos)) {
      measure(Long.MAX_VALUE);
    }
  }

  /** Returns how long a step that is done now waits for the times of its kernels. */
  private long latest(long nanos) {
    return kernels.areRead(nanos) ? KernelTimes.LATEST_NANOS : 0;
  }

  /** Measures the busy time of the steps that need not wait for times of kernels any longer. */
  void measure(long nanos) {
    Step step = unmeasured.peek();
    while (step != null && step.doneNanos < nanos - KernelTimes.LATEST_NANOS) {
      measureOnDevice(unmeasured.remove());
      batches.measured(step);
      step = unmeasured.peek();
    }
  }

  private void measureOnDevice(Step step) {
    long launches = Math.max(step.launches, step.counted);
    if (launches == 0 || !step.hasLaunched()) {
      return;
    }
    long from = batches.epochNanos(step.fromNanos);
    long to = batches.epochNanos(step.doneNanos);
    // One more than was read, because a launch is reported only when its call returns.
    long later = step.later == 0 ? 0 : step.later + 1;
    long busy = kernels.busy(from, to, step.idle, launches, later);
    if (busy >= 0 && step.complete) {
      step.onDevice = true;
      step.busyNanos = Math.min(busy, step.busyNanos);
    }
  }

  /** Ends the open step, treats all steps as done, and releases all slots. */
  void close(long nanos) {
    if (open != null) {
      open.complete = false;
      end(open, nanos);
    }
    while (!inFlight.isEmpty()) {
      finishUnobserved(inFlight.element());
    }
    measure(Long.MAX_VALUE);
    if (batches.lost(endedNanos, nanos)) {
      miss(1); // The last steps of these requests may be lost.
    }
    for (Entry entry : slots.values()) {
      release(entry);
      batches.writeIfEnded(entry.request, nanos);
    }
    slots.clear();
    scheduled.clear();
  }
}
