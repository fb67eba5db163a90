package io.inferspan.samples.desk.otlp;

import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** Counts dropped data by reason. Thread-safe. */
public final class Drops {

  private final Map<Drop, LongAdder> counts = new EnumMap<>(Drop.class);

  public Drops() {
    for (Drop drop : Drop.values()) {
      counts.put(drop, new LongAdder());
    }
  }

  /** Adds to a counter. */
  public void count(Drop cause, long howMany) {
    LongAdder adder = counts.get(cause);
    if (adder != null) {
      adder.add(howMany);
    }
  }

  /** Returns the count. */
  public long count(Drop cause) {
    LongAdder adder = counts.get(cause);
    return adder == null ? 0 : adder.sum();
  }

  /** Returns the counters above zero by their labels. */
  public Map<String, Long> counted() {
    Map<String, Long> counted = new LinkedHashMap<>();
    counts.forEach(
        (cause, adder) -> {
          if (adder.sum() > 0) {
            counted.put(cause.label(), adder.sum());
          }
        });
    return counted;
  }
}
