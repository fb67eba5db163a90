package io.inferspan.samples.desk.web;

import io.inferspan.samples.desk.otlp.Drop;
import io.inferspan.samples.desk.otlp.Drops;
import io.inferspan.samples.desk.otlp.TraceId;
import io.vertx.core.buffer.Buffer;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The timelines of cold starts: pages that the eBPF bridge sends, compressed, by trace. */
final class Timelines {

  static final int MOST_PAGE_BYTES = 4 << 20;
  private static final int MOST_BYTES = 16 << 20;

  private final Map<TraceId, Buffer> pages = new LinkedHashMap<>();
  private final Drops drops;
  private int bytes;

  Timelines(Drops drops) {
    this.drops = drops;
  }

  /** Keeps a page, at the expense of the oldest ones. */
  synchronized void put(TraceId trace, Buffer page) {
    Buffer replaced = pages.remove(trace);
    bytes += page.length() - (replaced == null ? 0 : replaced.length());
    pages.put(trace, page);
    for (Iterator<Buffer> oldest = pages.values().iterator(); bytes > MOST_BYTES; ) {
      bytes -= oldest.next().length();
      oldest.remove();
      drops.count(Drop.OLDEST_TIMELINE, 1);
    }
  }

  /** The page of a trace, compressed; null for none. */
  synchronized @Nullable Buffer get(TraceId trace) {
    return pages.get(trace);
  }
}
