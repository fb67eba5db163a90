package io.inferspan.ebpf.wire;

import java.util.Locale;

/**
 * How the BPF programs found the owner of an event, such as its request; numbered as in {@code
 * wire.h}.
 */
public enum Source {
  /** The event has no owner, or the number is unknown to this version. */
  UNKNOWN,

  /** The owner is a span that a thread of the bridge's process published. */
  OWN_THREAD,

  /** The owner is an HTTP request whose head the thread read. */
  HTTP,

  /** A thread that worked for the owner started this thread or process. */
  INHERITED,

  /** The application reported the owner with {@code inferspan_ckp.h}. */
  COOPERATIVE,

  /** The owner is a span that another tool published in OpenTelemetry's map of contexts. */
  OTEL_MAP,

  /** The owner is a request that arrived on the descriptor that the thread uses. */
  CONNECTION,

  /** The owner is the adopted process, because the event has no more specific owner. */
  PROCESS,

  /** Messages between an engine and its API server identify the owner. */
  FRAMES;

  private static final Source[] ALL = values();

  private final String word = name().toLowerCase(Locale.ROOT);

  /** Returns the source of this number; {@link #UNKNOWN} for other numbers. */
  public static Source of(int number) {
    return number >= 0 && number < ALL.length ? ALL[number] : UNKNOWN;
  }

  /** Returns its value in spans. */
  public String word() {
    return word;
  }
}
