package io.inferspan.ebpf.spans;

import io.inferspan.ebpf.wire.EventView;
import io.inferspan.ebpf.wire.Kind;
import io.inferspan.ebpf.wire.Layout;
import org.jspecify.annotations.Nullable;

/**
 * What tells an event from others of its kind: a number to compare by, and what may be said of the
 * text. Moved from event to event.
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
          // A number that comes once would leave nothing to fold.
          case NONE, OPERATION_CALL -> 0;
          case STREAM -> view.detail();
          case STATE, QUEUED -> view.detail() ^ view.extra() << Integer.SIZE;
          case FD -> view.detail() & DESCRIPTOR_KIND;
          case COLLECTIVE, TRANSFER -> view.detail() * 0x9e3779b97f4a7c15L ^ view.extra();
          case PATH -> allowPaths ? view.textHash() : FilePaths.reduced(view);
          case OPERATION -> view.textHash();
        };
    return this;
  }

  long key() {
    return key;
  }

  /** What may be said of the text, or null where the kind has none. */
  @Nullable String label(EventView view) {
    return switch (kind.detail()) {
      case PATH -> allowPaths ? path(view) : null;
      case OPERATION -> clean(view.text(), MAX_NAME_CHARS);
      default -> null;
    };
  }

  /** One that was longer than a record says so. */
  private static String path(EventView view) {
    String path = clean(view.text(), Layout.MAX_TEXT_BYTES);
    return view.isTextCut() ? path + CUT : path;
  }

  /** Makes one line of visible characters of a text that any process may have written. */
  private static String clean(String text, int maxChars) {
    StringBuilder cleaned = new StringBuilder(Math.min(text.length(), maxChars));
    for (int i = 0; i < text.length() && i < maxChars; i++) {
      char c = text.charAt(i);
      cleaned.append(c < ' ' || c > '~' ? '?' : c);
    }
    return cleaned.toString();
  }
}
