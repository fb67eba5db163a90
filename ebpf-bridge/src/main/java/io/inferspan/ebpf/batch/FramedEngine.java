package io.inferspan.ebpf.batch;

import io.inferspan.ebpf.batch.BatchCounters.Count;
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
 * An engine without a plugin, whose messages with its API server are read.
 *
 * <p>A step's outputs name the requests that got tokens, and the time when the step was done. A
 * request that is still without a token may have been in the step with a part of its prompt. Steps
 * that overlap, or run in several processes, cannot be told apart: their launches are counted and
 * not attributed.
 */
final class FramedEngine {

  private static final int MOST_SLOTS = 16_384;
  private static final int MOST_CHANGES = 4_096;

  /** Of steps that are done and whose outputs were not yet sent: another thread sends them. */
  private static final int MOST_WINDOWS = 4_096;

  private static final int MOST_EVENTS = 64;
  private static final int MOST_ABORTED = 1_024;
  private static final int UNKNOWN = -2;

  final int pid;

  /** Fields of its requests; 0 before the first. */
  long requestFields;

  /** Its messages are of no known release. */
  boolean refused;

  private final Batches batches;
  private final Map<Integer, Slot> slots = new LinkedHashMap<>();

  /** Requests that were given up; steps that had begun may still give them tokens. */
  private final Map<Integer, Slot> aborted = new LinkedHashMap<>();

  private final Map<String, BatchRequest> live = new HashMap<>();
  private final ArrayDeque<Window> windows = new ArrayDeque<>();
  private final List<Long> changes = new ArrayList<>();
  private boolean broken;
  private boolean foreign;
  private long number;
  private long doneNanos;

  /** The last launches were given up, and those that follow may be of the same step. */
  private boolean torn;

  private int lastSlot;

  /** When a request came that found the engine without another. */
  private long idleNanos;

  /** A request as the engine knows it. */
  private static final class Slot {
    final BatchRequest request;
    final String clientId;
    final long addedNanos;

    /** It has got tokens; or may have, unseen. */
    boolean started;

    Slot(BatchRequest request, String clientId, long addedNanos) {
      this.request = request;
      this.clientId = clientId;
      this.addedNanos = addedNanos;
    }
  }

  /** Launches up to a wait for all of them. */
  private static final class Window {
    final long firstNanos;

    /** How much was launched when an event was recorded; none any more once all is done. */
    Map<Long, Long> events = new HashMap<>();

    long launches;
    long stream;
    long syncedNanos;

    /** Launches before these are missing. */
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

  /** A request came; {@code head} is null if no sampled one has its id. */
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
    slots.put(slot, new Slot(request, clientId, nanos));
    if (slots.size() > MOST_SLOTS) {
      batches.counters().increment(Count.EVICTED);
      finish(slots.keySet().iterator().next(), nanos);
    }
  }

  /** Tokens, or the end, of requests; {@code before} were read before these. */
  void change(long[] words, long before) {
    broken |= before != changes.size();
    if (changes.size() < MOST_CHANGES) {
      Arrays.stream(words).forEach(changes::add);
    }
  }

  /** The outputs cannot be read to their end. */
  void breakOff() {
    broken = true;
  }

  /** A request was given up. */
  void abort(long word, long nanos) {
    lastSlot = UNKNOWN; // The step that it was in may still run.
    Slot gone = slots.get(Changes.slot(word));
    if (gone != null) {
      finish(Changes.slot(word), nanos);
      aborted.put(Changes.slot(word), gone);
    }
    if (aborted.size() > MOST_ABORTED) {
      aborted.remove(aborted.keySet().iterator().next());
    }
  }

  private @Nullable Slot known(long word) {
    int slot = Changes.slot(word);
    return slots.containsKey(slot) ? slots.get(slot) : aborted.get(slot);
  }

  private void finish(int slot, long nanos) {
    Slot gone = slots.remove(slot);
    if (gone != null) {
      gone.request.slots--;
      live.remove(gone.clientId, gone.request);
      batches.settle(gone.request, nanos);
    }
  }

  /**
   * All outputs of a step were read.
   *
   * @param total how many there are
   * @param atNanos when the step was done
   * @param sinceNanos since when calls are looked at without a pause
   */
  void outputs(long total, long atNanos, long sinceNanos, long nanos) {
    boolean known = !broken && total == changes.size() && atNanos > doneNanos && atNanos <= nanos;
    List<Long> words = List.copyOf(changes);
    changes.clear();
    broken = false;
    if (known) {
      steps(words, atNanos, sinceNanos, nanos);
    } else {
      giveUp(windowsBefore(Long.MAX_VALUE));
      slots.values().forEach(slot -> slot.request.miss(1));
      batches.counters().increment(Count.UNKNOWN_STEPS);
    }
    for (long word : words) {
      if (Changes.isFinished(word)) {
        finish(Changes.slot(word), nanos);
      }
    }
    doneNanos = Math.min(Math.max(doneNanos, atNanos), nanos);
  }

  /** The step whose outputs these are, and steps before it that had none. */
  private void steps(List<Long> words, long atNanos, long sinceNanos, long nanos) {
    // The step began when the one before it was done, which may have been read much later.
    boolean resumed = sinceNanos > doneNanos;
    if (resumed) {
      slots.values().forEach(slot -> slot.started |= slot.addedNanos < sinceNanos);
      // Their waits, or their outputs, were not seen.
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

  /** A request that came later has a part in the step: it began later, too. */
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
    Map<Integer, Slot> waiting = new LinkedHashMap<>(slots);
    waiting.values().removeIf(one -> one.addedNanos >= began);
    List<Long> tokens = words.stream().filter(word -> Changes.tokens(word) > 0).toList();
    // Without any token, it may be of one that was preempted and computes its prompt again.
    if (!tokens.isEmpty() || waiting.values().stream().anyMatch(one -> !one.started)) {
      waiting.values().removeIf(one -> one.started);
    }
    tokens.forEach(word -> waiting.remove(Changes.slot(word)));
    if (window == null && tokens.isEmpty()) {
      return; // Statistics of a step that ran nothing.
    }
    Step step = new Step(++number, pid, began, true, tokens.size() + waiting.size());
    step.frames = true;
    step.endedNanos = atNanos;
    int at = 0;
    for (long word : tokens) {
      observe(step, at++, word, atNanos);
    }
    for (Slot one : waiting.values()) {
      step.requests[at] = one.request;
      step.prefill[at] = !one.started;
      step.inferred[at++] = true;
    }
    batches.counters().increment(Count.STEPS);
    measure(step, window, atNanos);
    step.complete &= !cut && step.size > 0 && !batches.lost(doneNanos, nanos);
    batches.done(step, Math.max(atNanos, began));
  }

  /** It began after the step before, and after the last of its requests came. */
  private long earliest(List<Long> words, long atNanos) {
    long began = doneNanos;
    for (long word : words) {
      Slot slot = known(word);
      began = slot == null ? began : Math.max(began, slot.addedNanos);
    }
    return began == 0 ? atNanos : Math.min(began, atNanos);
  }

  private void observe(Step step, int at, long word, long nanos) {
    Slot slot = known(word);
    if (slot == null) {
      batches.counters().increment(Count.UNIDENTIFIED_SLOTS);
      return;
    }
    step.requests[at] = slot.request;
    step.prefill[at] = !slot.started;
    step.tokens[at] = slot.started ? Changes.tokens(word) : 0;
    slot.request.touchedNanos = nanos;
    slot.started = true;
  }

  /** Only launches that were waited for before the step was done are certainly its own. */
  private void measure(Step step, @Nullable Window window, long atNanos) {
    boolean own = window != null && window.syncedNanos > 0 && window.syncedNanos <= atNanos;
    if (window != null && own && !window.torn && !foreign) {
      step.launches = window.launches;
      step.firstLaunchNanos = window.firstNanos;
      step.complete(window.syncedNanos, 0);
    } else {
      step.complete = false;
      ambiguous(window == null ? 0 : window.launches);
    }
  }

  private void ambiguous(long launches) {
    batches.counters().add(Count.AMBIGUOUS_LAUNCHES, launches);
  }

  /** Calls of another process of the engine: steps of several are not told apart. */
  void launchedElsewhere() {
    foreign = true;
    batches.counters().increment(Count.AMBIGUOUS_LAUNCHES);
  }

  void launched(long stream, long startNanos) {
    Window window = windows.peekLast();
    if (window == null || window.syncedNanos > 0) {
      window = new Window(startNanos, torn);
      torn = false;
      windows.add(window);
      if (windows.size() > MOST_WINDOWS) {
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
        && (window.events.size() < MOST_EVENTS || window.events.containsKey(event))) {
      window.events.put(event, window.launches);
    }
  }

  void eventReached(long event, long nanos) {
    Window window = windows.peekLast();
    if (window != null && Objects.equals(window.events.get(event), window.launches)) {
      synced(window, nanos);
    }
  }

  /** A wait for a stream, or for the device if that is -1. */
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

  /** Ends its requests; where a plugin knows more of them, nothing is written. */
  void close(boolean superseded, long nanos) {
    for (Integer slot : List.copyOf(slots.keySet())) {
      BatchRequest request = Objects.requireNonNull(slots.get(slot)).request;
      finish(slot, nanos);
      if (superseded) {
        batches.discard(request);
      }
    }
  }
}
