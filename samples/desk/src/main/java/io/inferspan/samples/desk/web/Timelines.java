package io.inferspan.samples.desk.web;

import io.inferspan.samples.desk.otlp.Drop;
import io.inferspan.samples.desk.otlp.Drops;
import io.inferspan.samples.desk.otlp.TraceId;
import io.vertx.core.buffer.Buffer;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Stores the timelines of cold starts by trace: gzipped HTML pages that the eBPF bridge uploads.
 */
final class Timelines {

  static final int MAX_PAGE_BYTES = 4 << 20;
  private static final int MAX_BYTES = 16 << 20;

  private final Map<TraceId, Buffer> pages = new LinkedHashMap<>();
  private final Drops drops;
  private int bytes;

  Timelines(Drops drops) {
    this.drops = drops;
  }

  /** Stores a page; drops the oldest pages if all pages together exceed the limit. */
  synchronized void put(TraceId trace, Buffer page) {
    Buffer replaced = pages.remove(trace);
    bytes += page.length() - (replaced == null ? 0 : replaced.length());
    pages.put(trace, page);
    for (Iterator<Buffer> oldest = pages.values().iterator(); bytes > MAX_BYTES; ) {
      bytes -= oldest.next().length();
      oldest.remove();
      drops.count(Drop.OLDEST_TIMELINE, 1);
    }
  }

  /** Returns the gzipped page of a trace, or null. */
  synchronized @Nullable Buffer get(TraceId trace) {
    return pages.get(trace);
  }
}
