package io.inferspan.ebpf.spans;

import io.inferspan.ebpf.wire.Detail;
import io.inferspan.ebpf.wire.EventView;
import io.inferspan.ebpf.wire.Kind;
import org.jspecify.annotations.Nullable;

/** A copy of an event, kept until its request is written, then reused. */
final class HeldEvent {

  Kind kind = Kind.CUDA_INIT;
  long startNanos;
  long endNanos;
  int tgid;
  int tid;
  int source;
  int result;
  long amount;
  long detail;
  long extra;

  /** The generation of the policy that kept the event; zero without a policy. */
  int generation;

  /** For a path, the kind of directory and the extension. */
  long reduced;

  /** The part of the text that a span may contain, or null. */
  @Nullable String label;

  void take(EventView view, Kind eventKind, @Nullable String text) {
    kind = eventKind;
    startNanos = view.startNanos();
    endNanos = view.endNanos();
    tgid = view.tgid();
    tid = view.tid();
    source = view.source();
    result = view.result();
    amount = view.amount();
    detail = view.detail();
    extra = view.extra();
    generation = view.generation();
    reduced = eventKind.detail() == Detail.PATH ? FilePaths.reduced(view) : 0;
    label = text;
  }
}
