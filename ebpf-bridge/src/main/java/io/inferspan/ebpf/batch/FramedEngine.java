package io.inferspan.ebpf.batch;

import io.inferspan.ebpf.batch.BatchCounters.Count;
import io.inferspan.ebpf.wire.EventClass;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An engine without a plugin. Its steps are derived from the messages between it and the API
 * server.
 *
 * <p>A step's outputs name the requests that got tokens, and the time when the step was done. Other
 * requests may also have been in the step: requests whose prompt was computed only in part, and
 * preempted requests that are computed again. Steps that overlap, or run in several processes,
 * cannot be distinguished, so their launches are counted but not attributed.
 */
final class FramedEngine {

  private static final int MAX_SLOTS = 16_384;
  private static final int MAX_CHANGES = 4_096;

  /** Maximum number of steps whose outputs the engine has not sent yet. */
  private static final int MAX_WINDOWS = 4_096;

  private static final int MAX_EVENTS = 64;
  private static final int MAX_ABORTED = 1_024;
  private static final int UNKNOWN_SLOT = -2;

  final int pid;

  /** Number of fields of its requests; 0 before the first request. */
  long requestFields;

  /** Whether its messages match no known release. */
  boolean refused;

  private final Batches batches;
  private final Map<Integer, FramedSlot> slots = new LinkedHashMap<>();

  /** Aborted requests, to which steps that were already running may still give tokens. */
  private final Map<Integer, FramedSlot> aborted = new LinkedHashMap<>();

  private final Map<String, BatchRequest> live = new HashMap<>();
  private final ArrayDeque<Window> windows = new ArrayDeque<>();
  private final List<Long> changes = new ArrayList<>();

  /** Whether records of the current outputs were lost. */
  private boolean broken;

  /** Whether a launch in another process belongs to this engine. */
  private boolean otherProcessLaunched;

  private long number;
  private long doneNanos;

  /** Whether the next launches may belong to a step whose first launches were not attributed. */
  private boolean torn;

  private int lastSlot;

  /** Arrival of the last request that found the engine idle. */
  private long idleNanos;

  /** The launches of one step: consecutive launches, up to the wait for all of them. */
  private static final class Window {
    final long firstNanos;

    /** Number of launches before each recorded CUDA event; empty after the wait. */
    Map<Long, Long> events = new HashMap<>();

    long launches;
    long stream;
    long syncedNanos;

    /** Whether earlier launches of the step are missing. */
    final boolean torn;

    Window(long firstNanos, boolean torn) {
      this.firstNanos = firstNanos;
      this.torn = torn;
    }
  }

  FramedEngine(int pid, Batches batches) {
    this.pid = pid;
    this.batches = batches;
  }

  /** Adds a request; {@code head} is null if no sampled request has its id. */
  void add(int slot, String engineId, String clientId, @Nullable RequestHead head, long nanos) {
    BatchRequest request = batches.request(pid, FrameLayouts.withoutSample(engineId), head);
    request.frames = true;
    request.slots++;
    BatchRequest other = live.put(clientId, request);
    if (other != null && !other.equals(request) && other.slots > 0) {
      batches.counters().increment(Count.AMBIGUOUS_SLOTS);
      request.head = null;
      other.head = null;
    }
    if (slots.isEmpty() && slot == lastSlot + 1) {
      idleNanos = nanos;
    }
    lastSlot = slot;
    slots.put(slot, new FramedSlot(request, clientId, nanos));
    if (slots.size() > MAX_SLOTS) {
      batches.counters().increment(Count.EVICTED);
      leave(slots.keySet().iterator().next(), nanos);
    }
  }

  /**
   * Adds output words. A word names a request that got tokens or finished. {@code before} is the
   * number of words in earlier records of the same outputs.
   */
  void change(long[] words, long before) {
    broken |= before != changes.size();
    if (changes.size() < MAX_CHANGES) {
      Arrays.stream(words).forEach(changes::add);
    }
  }

  /** Marks the current outputs as incomplete. */
  void breakOff() {
    broken = true;
  }

  /** Removes a request that was aborted. */
  void abort(long word, long nanos) {
    lastSlot = UNKNOWN_SLOT; // A step with the request may still run.
    FramedSlot gone = slots.get(Changes.slot(word));
    if (gone != null) {
      gone.abortedNanos = nanos;
      leave(Changes.slot(word), nanos);
      aborted.put(Changes.slot(word), gone);
    }
    if (aborted.size() > MAX_ABORTED) {
      aborted.remove(aborted.keySet().iterator().next());
    }
  }

  private @Nullable FramedSlot known(long word) {
    return slots.getOrDefault(Changes.slot(word), aborted.get(Changes.slot(word)));
  }

  /** Removes a request that no outputs reported as finished; its last outputs may be lost. */
  private void leave(int slot, long nanos) {
    missIfLost(Objects.requireNonNull(slots.get(slot)), nanos);
    finish(slot, nanos);
  }

  /**
   * Counts a step with missing data if outputs for this request may have been lost since the
   * engine's last outputs.
   */
  private void missIfLost(FramedSlot slot, long nanos) {
    if (batches.lost(Math.max(doneNanos, slot.addedNanos), nanos)) {
      slot.miss();
    }
  }

  private void finish(int slot, long nanos) {
    FramedSlot gone = slots.remove(slot);
    if (gone != null) {
      gone.request.slots--;
      live.remove(gone.clientId, gone.request);
      batches.writeIfEnded(gone.request, nanos);
    }
  }

  /**
   * Handles a step's outputs after their last record was read.
   *
   * @param total the number of words in all records
   * @param atNanos when the step was done
   * @param sinceNanos the time from which calls have been observed without interruption
   */
  void outputs(long total, long atNanos, long sinceNanos, long nanos) {
    boolean known = !broken && total == changes.size() && atNanos > doneNanos && atNanos <= nanos;
    List<Long> words = List.copyOf(changes);
    changes.clear();
    broken = false;
    if (known) {
      if (batches.lost(doneNanos, nanos)) {
        slots.values().forEach(slot -> missIfLost(slot, nanos));
      }
      steps(words, atNanos, sinceNanos, nanos);
    } else {
      giveUp(windowsBefore(Long.MAX_VALUE));
      slots.values().forEach(FramedSlot::miss);
      batches.counters().increment(Count.UNKNOWN_STEPS);
    }
    for (long word : words) {
      if (Changes.isFinished(word)) {
        finish(Changes.slot(word), nanos);
      }
    }
    doneNanos = Math.min(Math.max(doneNanos, atNanos), nanos);
  }

  /** Writes the step that has these outputs, and earlier steps that had no outputs. */
  private void steps(List<Long> words, long atNanos, long sinceNanos, long nanos) {
    // The step began when the previous one was done; calls may have been observed only later.
    boolean resumed = sinceNanos > doneNanos;
    if (resumed) {
      slots.values().stream()
          .filter(slot -> slot.addedNanos < sinceNanos)
          .forEach(FramedSlot::unobserved);
      // The waits for these launches, or the outputs of their steps, were missed.
      giveUp(windowsBefore(sinceNanos));
    }
    boolean cut = resumed && idleNanos < sinceNanos;
    List<Window> mine = windowsBefore(atNanos);
    for (Window earlier : mine.subList(0, Math.max(0, mine.size() - 1))) {
      step(earlier, List.of(), earlier.syncedNanos, cut, nanos);
      cut = false;
    }
    Window last = mine.isEmpty() ? null : mine.get(mine.size() - 1);
    step(last, words, atNanos, cut && !hasNew(words, sinceNanos), nanos);
  }

  /**
   * Returns whether a request of the step arrived after {@code sinceNanos}; if so, the step also
   * began after that time.
   */
  private boolean hasNew(List<Long> words, long sinceNanos) {
    return words.stream()
        .map(this::known)
        .anyMatch(slot -> slot != null && slot.addedNanos > sinceNanos);
  }

  private void giveUp(List<Window> launched) {
    for (Window window : launched) {
      ambiguous(window.launches);
      torn = window.syncedNanos == 0;
    }
  }

  private List<Window> windowsBefore(long nanos) {
    List<Window> before = new ArrayList<>();
    while (!windows.isEmpty() && windows.element().firstNanos < nanos) {
      before.add(windows.remove());
    }
    return before;
  }

  private void step(
      @Nullable Window window, List<Long> words, long atNanos, boolean cut, long nanos) {
    long began = window == null ? earliest(words, atNanos) : window.firstNanos;
    List<Long> tokens = words.stream().filter(word -> Changes.tokens(word) > 0).toList();
    if (window == null && tokens.isEmpty()) {
      return; // The outputs have only statistics: no request ran.
    }
    Map<Integer, FramedSlot> others = new LinkedHashMap<>();
    for (Map<Integer, FramedSlot> candidates : List.of(slots, aborted)) {
      candidates.forEach(
          (slot, one) -> {
            if (one.mayRun(began)) {
              others.put(slot, one);
            }
          });
    }
    tokens.forEach(word -> others.remove(Changes.slot(word)));
    Step step = new Step(++number, pid, began, true, tokens.size() + others.size());
    step.frames = true;
    step.endedNanos = atNanos;
    int at = 0;
    for (long word : tokens) {
      observe(step, at++, word, atNanos);
    }
    for (FramedSlot one : others.values()) {
      step.requests[at] = one.request;
      step.prefill[at] = !one.started;
      step.inferred[at++] = true;
    }
    batches.counters().increment(Count.STEPS);
    measure(step, window, atNanos);
    step.complete &= !cut && step.size > 0 && !batches.lost(doneNanos, nanos);
    step.doneNanos = Math.max(atNanos, began);
    batches.done(step);
    batches.measured(step);
  }

  /**
   * Returns the earliest possible start: after the previous step, and after the last arrival of its
   * requests.
   */
  private long earliest(List<Long> words, long atNanos) {
    long began = doneNanos;
    for (long word : words) {
      FramedSlot slot = known(word);
      began = slot == null ? began : Math.max(began, slot.addedNanos);
    }
    return began == 0 ? atNanos : Math.min(began, atNanos);
  }

  private void observe(Step step, int at, long word, long nanos) {
    FramedSlot slot = known(word);
    if (slot == null) {
      batches.counters().increment(Count.UNIDENTIFIED_SLOTS);
      return;
    }
    step.requests[at] = slot.request;
    step.prefill[at] = !slot.started;
    step.tokens[at] = slot.started ? Changes.tokens(word) : 0;
    slot.request.touchedNanos = nanos;
    slot.observed();
  }

  /**
   * Sets launches and busy time. Launches certainly belong to the step only if the wait for them
   * ended before the step was done.
   */
  private void measure(Step step, @Nullable Window window, long atNanos) {
    boolean own = window != null && window.syncedNanos > 0 && window.syncedNanos <= atNanos;
    step.level = batches.level(EventClass.LAUNCHES, step.beganNanos, atNanos);
    step.counted = -1;
    if (window != null && own && !window.torn && !otherProcessLaunched && !step.isLowered()) {
      step.launches = window.launches;
      step.firstLaunchNanos = window.firstNanos;
      step.setBusyTime(window.syncedNanos, 0);
    } else {
      step.complete = false;
      ambiguous(window == null ? 0 : window.launches);
    }
  }

  private void ambiguous(long launches) {
    batches.counters().add(Count.AMBIGUOUS_LAUNCHES, launches);
  }

  /** Counts a launch in another process: steps of several processes cannot be distinguished. */
  void launchedElsewhere() {
    otherProcessLaunched = true;
    batches.counters().increment(Count.AMBIGUOUS_LAUNCHES);
  }

  void launched(long stream, long startNanos) {
    Window window = windows.peekLast();
    if (window == null || window.syncedNanos > 0) {
      window = new Window(startNanos, torn);
      torn = false;
      windows.add(window);
      if (windows.size() > MAX_WINDOWS) {
        ambiguous(windows.remove().launches);
      }
    }
    window.launches++;
    window.stream = stream;
  }

  void recorded(long event) {
    Window window = windows.peekLast();
    if (window != null
        && window.syncedNanos == 0
        && (window.events.size() < MAX_EVENTS || window.events.containsKey(event))) {
      window.events.put(event, window.launches);
    }
  }

  void eventReached(long event, long nanos) {
    Window window = windows.peekLast();
    if (window != null && Objects.equals(window.events.get(event), window.launches)) {
      synced(window, nanos);
    }
  }

  /** Handles the end of a wait for a stream, or for the device if {@code stream} is -1. */
  void allDone(long stream, long nanos) {
    Window window = windows.peekLast();
    if (window != null && (stream == -1 || stream == window.stream)) {
      synced(window, nanos);
    }
  }

  private static void synced(Window window, long nanos) {
    if (window.syncedNanos == 0) {
      window.syncedNanos = nanos;
      window.events = Map.of();
    }
  }

  /** Removes all requests; discards them if a plugin reports them ({@code superseded}). */
  void close(boolean superseded, long nanos) {
    for (Integer slot : List.copyOf(slots.keySet())) {
      BatchRequest request = Objects.requireNonNull(slots.get(slot)).request;
      leave(slot, nanos);
      if (superseded) {
        batches.discard(request);
      }
    }
  }
}
