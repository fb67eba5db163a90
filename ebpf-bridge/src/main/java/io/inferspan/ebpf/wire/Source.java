package io.inferspan.ebpf.wire;

import java.util.Locale;

/**
 * How the BPF programs found the owner of an event, such as its request; numbered as in {@code
 * wire.h}.
 */
public enum Source {
  /** The event has no owner, or the number is unknown to this version. */
  UNKNOWN,

  /** A thread of the bridge's process published it. */
  OWN_THREAD,

  /** The thread read the head of the HTTP request. */
  HTTP,

  /** The thread or process was started on behalf of it. */
  INHERITED,

  /** The application reported it with {@code inferspan_ckp.h}. */
  COOPERATIVE,

  /** Another program published it in OpenTelemetry's map of contexts. */
  OTEL_MAP,

  /** The request arrived on the descriptor that the thread uses. */
  CONNECTION,

  /** The process is adopted, and the event has no more specific owner. */
  PROCESS,

  /** Messages between an engine and its API server show it. */
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
