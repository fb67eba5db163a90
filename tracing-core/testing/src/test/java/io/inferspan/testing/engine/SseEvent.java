package io.inferspan.testing.engine;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One server-sent event as it was on the wire. */
record SseEvent(@Nullable String name, String data) {
  static List<SseEvent> parse(String stream) {
    List<SseEvent> events = new ArrayList<>();
    for (String block : stream.split("\n\n", -1)) {
      if (!block.isEmpty()) {
        events.add(parseOne(block));
      }
    }
    return events;
  }

  JsonTree json() {
    return JsonTree.of(data);
  }

  private static SseEvent parseOne(String block) {
    String name = null;
    String data = null;
    for (String line : block.split("\n", -1)) {
      if (line.startsWith("event: ")) {
        name = line.substring("event: ".length());
      } else if (line.startsWith("data: ")) {
        data = line.substring("data: ".length());
      } else {
        throw new AssertionError("neither event nor data: " + line);
      }
    }
    if (data == null) {
      throw new AssertionError("no data in " + block);
    }
    return new SseEvent(name, data);
  }
}
