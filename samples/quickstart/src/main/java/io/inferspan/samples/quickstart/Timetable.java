package io.inferspan.samples.quickstart;

import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** What is asked: something long enough to be worth a prefill on another pod. */
final class Timetable {

  /** The beginning that many conversations share. */
  static final String SYSTEM =
      "You know the trains from Altdorf to Birkenau and answer in one sentence.\n" + trains(5, 13);

  /** The part that nobody has asked before. */
  static final String QUESTION =
      "Today these trains run in addition:\n"
          + trains(6, 24)
          + "Which one is the first that reaches Birkenau after a quarter to nine?";

  private Timetable() {}

  private static String trains(int fromHour, int toHour) {
    return IntStream.range(fromHour, toHour)
        .mapToObj(
            "Train %1$d leaves Altdorf at %1$d:12 on platform 3 and reaches Birkenau at %1$d:47.\n"
                ::formatted)
        .collect(Collectors.joining());
  }
}
