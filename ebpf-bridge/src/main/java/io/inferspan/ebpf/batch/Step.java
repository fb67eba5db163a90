package io.inferspan.ebpf.batch;

import io.inferspan.OperationSpan;
import io.inferspan.ebpf.nccl.Communicator;
import io.opentelemetry.context.Context;
import org.jspecify.annotations.Nullable;

/**
 * A step of an engine in one process: the requests that it contained when it began (its members),
 * its launches, and its busy time, in which the device worked for it.
 *
 * <p>A step has ended when the engine reported its end, and is done when the device was seen to
 * have finished it. It is complete if no data about it is missing.
 */
public final class Step {

  final long number;
  final int pid;
  final long beganNanos;
  final boolean known;
  final int size;
  final @Nullable BatchRequest[] requests;
  final int[] tokens;
  final boolean[] prefill;

  /** Members whose membership is inferred rather than observed. */
  final boolean[] inferred;

  final long[] contexts;
  final long[] shares;

  /** The rank of its worker, from the process title or from NCCL; null if unknown. */
  @Nullable String rank;

  /** End of the previous step of the process; the start of this step if there is none. */
  long previousEndNanos;

  long endedNanos;
  long firstLaunchNanos;
  long launches;

  /** Number of launches that the BPF programs counted; -1 if they did not count them. */
  long counted;

  /** Number of recorded CUDA events. */
  long records;

  /**
   * Detail level of launches; empty if each launch was reported. Otherwise the busy time is counted
   * from the start of the step rather than its first launch.
   */
  String level = "";

  /** End of the last wait for all launches so far; 0 if there is none. */
  long synchronizedNanos;

  long busyNanos;

  /**
   * Start of its window: its first launch, or when the previous step was seen to be done if that is
   * later. The window ends at {@link #doneNanos}.
   */
  long fromNanos;

  /** When it was seen to be done. */
  long doneNanos;

  /** Whether no other step was in flight at its first launch. */
  boolean idle;

  /** The number of launches that later steps had made when this step was seen to be done. */
  long later;

  /**
   * Whether its busy time is the time in which its kernels ran, rather than the length of its
   * window.
   */
  boolean onDevice;

  /** The largest communicator of its collectives, if its creation was observed. */
  @Nullable Communicator communicator;

  /** Sequence number of the first collective of that communicator. */
  long sequence;

  /** Number of collectives of that communicator. */
  long collectives;

  /**
   * Whether collectives may be missing: calls were not in full detail, a capture policy decided
   * about them, or records were lost. Then {@link #collectives} and {@link #sequence} are
   * unreliable.
   */
  boolean missesCalls;

  /** Its number as an owner of events. */
  long owner;

  /** Context of its span; null until the span is written. */
  @Nullable Context context;

  /** Its span until the busy time is known. */
  @Nullable OperationSpan span;

  /** Whether the step was derived from the engine's messages rather than reported by a plugin. */
  boolean frames;

  /** Whether no data of the step is missing. */
  boolean complete = true;

  /** Creates a step with {@code size} members; if not {@code known}, its members are unknown. */
  Step(long number, int pid, long beganNanos, boolean known, int size) {
    this.number = number;
    this.pid = pid;
    this.beganNanos = beganNanos;
    this.known = known;
    this.size = size;
    this.requests = new @Nullable BatchRequest[size];
    this.tokens = new int[size];
    this.prefill = new boolean[size];
    this.inferred = new boolean[size];
    this.contexts = new long[size];
    this.shares = new long[size];
  }

  /** Returns the owner number of its events. */
  public long owner() {
    return owner;
  }

  /** Returns when it began. */
  public long beganNanos() {
    return beganNanos;
  }

  /** Returns the context of its span; null until the span is written. */
  public @Nullable Context context() {
    return context;
  }

  /** Adds a collective, given its sequence number in the communicator. */
  void called(Communicator by, long number) {
    if (number == 0 || (communicator != null && by.ranks() < communicator.ranks())) {
      return;
    }
    if (communicator == null || by.ranks() > communicator.ranks()) {
      communicator = by;
      collectives = 0;
      sequence = number;
    }
    if (by.equals(communicator)) {
      collectives++;
      sequence = Math.min(sequence, number);
    }
  }

  boolean isLowered() {
    return !level.isEmpty();
  }

  /** Whether the device worked, or may have worked, for this step. */
  boolean hasLaunched() {
    return launches > 0 || (isLowered() && (counted > 0 || (counted < 0 && size > 0)));
  }

  /**
   * Sets the window and the busy time of this step.
   *
   * <p>Steps run on the device one after the other, so the window begins with the first launch, or
   * when the previous step was done if that is later. If launches were not reported, the start of
   * the step replaces the first launch.
   *
   * @param nanos when this step was seen to be done
   * @param beforeNanos when the previous step was seen to be done; 0 if there is none
   */
  void setBusyTime(long nanos, long beforeNanos) {
    long launchedNanos = isLowered() ? beganNanos : firstLaunchNanos;
    idle = launchedNanos >= beforeNanos;
    fromNanos = Math.max(launchedNanos, beforeNanos);
    doneNanos = nanos;
    busyNanos = hasLaunched() ? Math.max(0, nanos - fromNanos) : 0;
  }
}
