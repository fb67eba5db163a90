package io.inferspan.ebpf.spans;

import io.inferspan.ebpf.nccl.Communicators;
import io.inferspan.ebpf.wire.EventView;
import io.inferspan.ebpf.wire.Kind;
import io.inferspan.ebpf.wire.Layout;
import org.jspecify.annotations.Nullable;

/**
 * Distinguishes events of one kind by a number, so that only equal ones are folded, and returns the
 * text that a span may contain. One instance is reused for all events.
 */
final class DetailKey {

  private static final long DESCRIPTOR_KIND = 0xffff_ffffL;
  private static final int MAX_NAME_CHARS = 64;
  private static final String CUT = "...";

  private final boolean allowPaths;
  private Kind kind = Kind.CUDA_INIT;
  private long key;

  DetailKey(boolean allowPaths) {
    this.allowPaths = allowPaths;
  }

  DetailKey of(EventView view, Kind eventKind) {
    kind = eventKind;
    key =
        switch (eventKind.detail()) {
          // Each operation number occurs once, so nothing would be folded.
          case NONE, OPERATION_CALL -> 0;
          case STREAM -> view.detail();
          case STATE, QUEUED -> view.detail() ^ view.extra() << Integer.SIZE;
          case FD -> view.detail() & DESCRIPTOR_KIND;
          case COLLECTIVE, TRANSFER ->
              view.detail() * 0x9e3779b97f4a7c15L ^ Communicators.withoutSequence(view.extra());
          case PATH -> allowPaths ? view.textHash() : FilePaths.reduced(view);
          case OPERATION -> view.textHash();
        };
    return this;
  }

  long key() {
    return key;
  }

  /** Returns the part of the text that a span may contain; null if the kind has none. */
  @Nullable String label(EventView view) {
    return switch (kind.detail()) {
      case PATH -> allowPaths ? path(view) : null;
      case OPERATION -> clean(view.text(), MAX_NAME_CHARS);
      default -> null;
    };
  }

  /** Returns the path, with an ellipsis if the record has only its beginning. */
  private static String path(EventView view) {
    String path = clean(view.text(), Layout.MAX_TEXT_BYTES);
    return view.isTextCut() ? path + CUT : path;
  }

  /**
   * Replaces characters other than visible ASCII, because any process can have written the text.
   */
  private static String clean(String text, int maxChars) {
    StringBuilder cleaned = new StringBuilder(Math.min(text.length(), maxChars));
    for (int i = 0; i < text.length() && i < maxChars; i++) {
      char c = text.charAt(i);
      cleaned.append(c < ' ' || c > '~' ? '?' : c);
    }
    return cleaned.toString();
  }
}
