package io.inferspan.ebpf.spans;

import io.inferspan.ebpf.wire.Detail;
import io.inferspan.ebpf.wire.EventView;
import io.inferspan.ebpf.wire.Kind;
import org.jspecify.annotations.Nullable;

/** One event, kept until its request is written; used again and again. */
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

  /** Of the policy that kept it; zero if none was asked. */
  int generation;

  /** Of a path, the place and the extension. */
  long reduced;

  /** What may be said of the text, or null where that is nothing. */
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
