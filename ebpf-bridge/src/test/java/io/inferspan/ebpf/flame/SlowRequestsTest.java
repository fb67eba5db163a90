package io.inferspan.ebpf.flame;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.StringReader;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The slowest requests compared with the others. */
class SlowRequestsTest {

  private static final int REQUESTS = 300;

  private final StackCounts counts = new StackCounts(Unit.SAMPLES);

  private static String trace(int request) {
    return "%032x".formatted(request + 1);
  }

  private void add(int request, String stack, long count) {
    counts.add("trace " + trace(request) + ";" + stack, count);
  }

  /** Requests whose work differs at random, and three that also wait for a lock. */
  private void plantSlowRequests(long lockSamples) {
    Random random = new Random(3);
    for (int request = 0; request < REQUESTS; request++) {
      add(request, "serve;parse", 5 + random.nextInt(10));
      add(request, "serve;decode;launch", 40 + random.nextInt(40));
    }
    for (int slow : new int[] {17, 120, 299}) {
      add(slow, "serve;decode;lock", lockSamples);
    }
    counts.add("no trace;idle;lock", 100_000);
  }

  @Test
  void plantedFunction_growsMost_withoutDurations() throws IOException {
    plantSlowRequests(300);

    SlowRequests divided = SlowRequests.of(counts, 1, null);

    assertThat(growth(divided, "serve;decode;lock")).isGreaterThan(0.5);
    assertThat(growth(divided, "serve;decode;launch")).isNegative();
    assertThat(growth(divided, "serve;parse")).isNegative();
    assertThat(divided.others().sorted()).doesNotContainKey("serve;decode;lock");
    assertThat(divided.summary()).matches("slowest: 3 of 300 requests, 3[0-9]{2} samples or more");
  }

  @Test
  void plantedFunction_isFoundByDurations_whereItsStacksCountForLittle() throws IOException {
    plantSlowRequests(8);
    Map<String, Double> millis = new HashMap<>();
    for (int request = 0; request < REQUESTS; request++) {
      millis.put(trace(request), 100.0 + request / 10.0);
    }
    millis.put(trace(17), 900.5);
    millis.put(trace(120), 901.0);
    millis.put(trace(299), 902.0);

    SlowRequests divided = SlowRequests.of(counts, 1, millis);

    assertThat(growth(divided, "serve;decode;lock")).isPositive();
    assertThat(divided.others().sorted()).doesNotContainKey("serve;decode;lock");
    assertThat(divided.summary()).isEqualTo("slowest: 3 of 300 requests, 900.5 ms or more");
    assertThat(SlowRequests.of(counts, 1, null).others().sorted()).containsKey("serve;decode;lock");
  }

  private static double growth(SlowRequests divided, String stack) {
    return share(divided.slowest(), stack) - share(divided.others(), stack);
  }

  private static double share(StackCounts counts, String stack) {
    return (double) counts.sorted().getOrDefault(stack, 0L) / counts.total();
  }

  @Test
  void requestsWithoutDuration_areInNeitherPart() throws IOException {
    add(1, "a", 1);
    add(2, "b", 1);
    add(3, "c", 99);

    SlowRequests divided = SlowRequests.of(counts, 1, Map.of(trace(1), 1.0, trace(2), 2.0));

    assertThat(divided.slowest().sorted()).containsExactly(entry("b", 1L));
    assertThat(divided.others().sorted()).containsExactly(entry("a", 1L));
  }

  @ParameterizedTest
  @CsvSource({"1, 100, 1", "1, 101, 2", "0.7, 1000, 7", "50, 3, 2", "0.001, 2, 1"})
  void share_isRoundedUpToAWholeRequest(double percent, int requests, int slow) throws IOException {
    for (int request = 0; request < requests; request++) {
      add(request, "a", 1);
    }

    assertThat(SlowRequests.of(counts, percent, null).slowest().total()).isEqualTo(slow);
  }

  @Test
  void oneRequest_orSlowOnesWithoutStacks_cannotBeCompared() {
    add(1, "a", 1);

    assertThatThrownBy(() -> SlowRequests.of(counts, 1, null))
        .hasMessage("too few requests to compare: 1");
    add(2, "a", 1);
    assertThatThrownBy(
            () -> SlowRequests.of(counts, 1, Map.of(trace(1), 1.0, trace(2), 2.0, trace(3), 3.0)))
        .hasMessage("there are no stacks of the slowest requests");
  }

  @Test
  void durations_areReadFromLinesOfTraceAndMilliseconds() throws IOException {
    String text =
        "# trace, ms\n\n" + trace(1) + " 12\n" + trace(2) + ",3.5 \n" + trace(1) + "\t20\n";

    assertThat(millis(text)).containsOnly(entry(trace(1), 20.0), entry(trace(2), 3.5));
  }

  @ParameterizedTest
  @CsvSource({
    "4bf92f3577b34da6a3ce929d0e0e4736 fast, 'line 2, column 33: expected milliseconds'",
    "4bf92f3577b34da6a3ce929d0e0e4736 -1, 'line 2, column 33: expected milliseconds'",
    "4bf92f 1, 'line 2, column 1: expected a trace id of 32 hexadecimal digits'",
    "4bf92f3577b34da6a3ce929d0e0e47361 1, 'line 2, column 1: expected a trace id'"
  })
  void malformedLines_areRefusedWithLineAndColumn(String line, String message) {
    assertThatThrownBy(() -> millis("#\n" + line))
        .isInstanceOf(StackFormatException.class)
        .hasMessageStartingWith(message);
  }

  @Test
  void stacksOfAModel_areThoseOfItsRequests() throws IOException {
    add(1, "a", 1);
    add(2, "b", 2);
    add(3, "b", 4);
    add(4, "b", 8);
    String text =
        "%s 1 small model\n%s 2 large\n%s,3,large\n%s 4\n"
            .formatted(trace(1), trace(2), trace(3), trace(4));
    ListedRequests listed = ListedRequests.read(new BufferedReader(new StringReader(text)));

    assertThat(listed.ofModel("large").stacks(counts).sorted()).containsExactly(entry("b", 6L));
    assertThat(listed.ofModel("small model").millis()).containsOnlyKeys(trace(1));
    assertThat(listed.stacks(counts).total()).isEqualTo(15);
    assertThatThrownBy(() -> listed.ofModel("other"))
        .hasMessage("no request has the model other; models in the list: large, small model");
  }

  private static Map<String, Double> millis(String text) throws IOException {
    return ListedRequests.read(new BufferedReader(new StringReader(text))).millis();
  }
}
