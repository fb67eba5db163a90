package io.inferspan.ebpf.batch;

import io.opentelemetry.context.Context;
import org.jspecify.annotations.Nullable;

/** One step of one process: its members as they were when it began, and what it did. */
public final class Step {

  final long number;
  final int pid;
  final long beganNanos;
  final boolean known;
  final int size;
  final @Nullable BatchRequest[] requests;
  final int[] tokens;
  final boolean[] prefill;

  /** Those that may not have been in the step. */
  final boolean[] inferred;

  final long[] contexts;
  final long[] shares;

  /** When the step before ended. */
  long sinceNanos;

  long endedNanos;
  long firstLaunchNanos;
  long launches;
  long synchronizedNanos;
  long busyNanos;

  /** Its number as an owner of events. */
  long owner;

  /** Of its span, once that is written. */
  @Nullable Context context;

  /** Known from messages of the engine, not from a plugin. */
  boolean frames;

  /** All that the step did was seen. */
  boolean complete = true;

  /** A step with room for {@code size} members; without {@code known}, nothing is known of them. */
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

  /** The number that its events carry. */
  public long owner() {
    return owner;
  }

  /** When it began. */
  public long beganNanos() {
    return beganNanos;
  }

  /** The context of its span; null before the device is done with it. */
  public @Nullable Context context() {
    return context;
  }

  /**
   * Ends the time in which the device worked for the step. Steps run on the device one after the
   * other, so it began with the first launch, or when the step before was done.
   */
  void complete(long nanos, long beforeNanos) {
    long from = Math.max(firstLaunchNanos, beforeNanos);
    busyNanos = launches == 0 ? 0 : Math.max(0, nanos - from);
  }
}
