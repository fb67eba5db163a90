package io.inferspan.gateway;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.testing.engine.EngineRequest;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * The contract of every adapter for W3C Trace Context: the requests that the document's own test
 * suite sends, as bytes on one connection, and the headers that the engine receives.
 *
 * <p>{@link #DROPPED} lists where the SDK differs from the suite. A trace that is not sampled
 * passes with its parent unchanged, where the suite wants a new one.
 */
public abstract class TraceContextContract extends TraceContract {

  private static final String SPAN = "b7ad6b7169203331";
  private static final String IDS = TRACE + "-" + SPAN;

  private static final List<String> CONTINUED =
      List.of(
          "traceparent: " + SAMPLED,
          "TraceParent: " + SAMPLED,
          "TrAcEpArEnT: " + SAMPLED,
          "TRACEPARENT: " + SAMPLED,
          "traceparent: cc-" + IDS + "-01",
          "traceparent: cc-" + IDS + "-01-what-comes-later",
          "traceparent:  " + SAMPLED,
          "traceparent: \t" + SAMPLED,
          "traceparent: " + SAMPLED + " ",
          "traceparent: " + SAMPLED + "\t",
          "traceparent: \t " + SAMPLED + " \t");

  private static final List<List<String>> RESTARTED = restarted();

  /** Expected {@code tracestate}, and the lines that are sent. */
  private static final List<List<String>> STATES =
      List.of(
          List.of("foo=1,bar=2", "tracestate: foo=1,bar=2"),
          List.of("", "trace-state: foo=1"),
          List.of("", "trace.state: foo=1"),
          List.of("foo=1", "TraceState: foo=1"),
          List.of("foo=1", "TrAcEsTaTe: foo=1"),
          List.of("foo=1", "TRACESTATE: foo=1"),
          List.of("", "tracestate: "),
          List.of("foo=1", "tracestate: foo=1", "tracestate: "),
          List.of("foo=1", "tracestate: ", "tracestate: foo=1"),
          List.of(
              "foo=1,bar=2,rojo=1,congo=2,baz=3",
              "tracestate: foo=1,bar=2",
              "tracestate: rojo=1,congo=2",
              "tracestate: baz=3"),
          List.of("foo=1,bar=2,baz=3", "tracestate: foo=1 \t , \t bar=2, \t baz=3"),
          List.of("foo=1,bar=2,baz=3", "tracestate: foo=1\t \t,\t \tbar=2,\t \tbaz=3"),
          List.of("foo=1", "tracestate:  foo=1"),
          List.of("foo=1", "tracestate: \tfoo=1"),
          List.of("foo=1", "tracestate: foo=1 "),
          List.of("foo=1", "tracestate: foo=1\t"),
          List.of("foo=1", "tracestate: \t foo=1 \t"),
          List.of("", "tracestate: foo =1"),
          List.of("", "tracestate: FOO=1"),
          List.of("", "tracestate: foo.bar=1"),
          List.of("", "tracestate: @foo=1,bar=2"),
          List.of("", "tracestate: foo=bar=baz"),
          List.of("", "tracestate: foo=,bar=3"),
          List.of(
              members(1, 32), "tracestate: " + members(1, 10), "tracestate: " + members(11, 32)),
          List.of("", "tracestate: " + members(1, 10), "tracestate: " + members(11, 33)),
          List.of(
              "foo=1," + "z".repeat(256) + "=1",
              "tracestate: foo=1",
              "tracestate: " + "z".repeat(256) + "=1"),
          List.of("", "tracestate: foo=1", "tracestate: " + "z".repeat(257) + "=1"),
          List.of(
              "foo=1," + "t".repeat(241) + "@" + "v".repeat(14) + "=1",
              "tracestate: foo=1",
              "tracestate: " + "t".repeat(241) + "@" + "v".repeat(14) + "=1"));

  /** What the SDK drops: keys of the document's second level, and lists that name a key twice. */
  private static final List<String> DROPPED =
      List.of(
          "foo@=1,bar=2",
          "foo@@bar=1,bar=2",
          "foo@bar@baz=1,bar=2",
          "t".repeat(242) + "@v=1",
          "t@" + "v".repeat(15) + "=1",
          "foo=1,foo=1",
          "foo=1,foo=2",
          "foo=1\r\ntracestate: foo=1",
          "foo=1\r\ntracestate: foo=2");

  private static List<List<String>> restarted() {
    List<List<String>> all = new ArrayList<>();
    all.add(List.of());
    all.add(List.of("tracestate: foo=1,bar=2"));
    all.add(List.of("trace-parent: " + SAMPLED));
    all.add(List.of("trace.parent: " + SAMPLED));
    all.add(List.of("traceparent: " + SAMPLED, "traceparent: " + SAMPLED.replace("b7", "b8")));
    for (String value :
        List.of(
            "00-" + IDS + "-01.",
            "00-" + IDS + "-01-what-comes-later",
            "cc-" + IDS + "-01.what-comes-later",
            "ff-" + IDS + "-01",
            ".0-" + IDS + "-01",
            "0.-" + IDS + "-01",
            "000-" + IDS + "-01",
            "0000-" + IDS + "-01",
            "0-" + IDS + "-01",
            "00-" + "0".repeat(32) + "-" + SPAN + "-01",
            "00-." + IDS.substring(1) + "-01",
            "00-" + TRACE.substring(1) + ".-" + SPAN + "-01",
            "00-" + TRACE + "3-" + SPAN + "-01",
            "00-" + TRACE.substring(1) + "-" + SPAN + "-01",
            "00-" + TRACE + "-" + "0".repeat(16) + "-01",
            "00-" + TRACE + "-." + SPAN.substring(1) + "-01",
            "00-" + TRACE + "-" + SPAN.substring(1) + ".-01",
            "00-" + IDS + "7-01",
            "00-" + TRACE + "-" + SPAN.substring(1) + "-01",
            "00-" + IDS + "-.0",
            "00-" + IDS + "-0.",
            "00-" + IDS + "-001",
            "00-" + IDS + "-1")) {
      all.add(List.of("traceparent: " + value, "tracestate: foo=1"));
    }
    return all;
  }

  private static String members(int first, int last) {
    return IntStream.rangeClosed(first, last)
        .mapToObj(i -> String.format(Locale.ROOT, "bar%02d=%02d", i, i))
        .collect(Collectors.joining(","));
  }

  @Test
  void traceparent_isContinuedWhereItIsWellFormed() throws Exception {
    List<List<String>> lines = CONTINUED.stream().map(List::of).toList();
    List<EngineRequest> received = received(lines);
    for (int i = 0; i < lines.size(); i++) {
      assertThat(traceparent(received.get(i)))
          .as("%s", lines.get(i))
          .matches("00-" + TRACE + "-[0-9a-f]{16}-01")
          .doesNotContain(SPAN);
    }
  }

  @Test
  void traceparent_isReplacedWhereItIsMalformed() throws Exception {
    List<EngineRequest> received = received(RESTARTED);
    for (int i = 0; i < RESTARTED.size(); i++) {
      assertThat(traceparent(received.get(i)))
          .as("%s", RESTARTED.get(i))
          .matches("00-[0-9a-f]{32}-[0-9a-f]{16}-03")
          .doesNotContain(TRACE);
      assertThat(received.get(i).headers("tracestate")).as("%s", RESTARTED.get(i)).isEmpty();
    }
  }

  @Test
  void tracestate_passesAsOneLineOrNotAtAll() throws Exception {
    for (String traceparent : List.of(SAMPLED, UNSAMPLED)) {
      List<List<String>> lines = STATES.stream().map(each -> with(traceparent, each)).toList();
      List<EngineRequest> received = received(lines);
      for (int i = 0; i < STATES.size(); i++) {
        assertThat(traceparent(received.get(i))).contains(TRACE);
        assertThat(String.join(",", received.get(i).headers("tracestate")))
            .as("%s", lines.get(i))
            .matches(STATES.get(i).get(0));
        assertThat(received.get(i).headers("tracestate")).hasSizeLessThanOrEqualTo(1);
      }
    }
  }

  private static List<String> with(String traceparent, List<String> state) {
    List<String> lines = new ArrayList<>(state);
    lines.set(0, "traceparent: " + traceparent);
    return lines;
  }

  @Test
  void tracestate_ofAllCharactersThatAreAllowed_passes() throws Exception {
    String value =
        IntStream.rangeClosed(' ', '~')
            .filter(c -> c != ',' && c != '=')
            .mapToObj(c -> String.valueOf((char) c))
            .collect(Collectors.joining());
    String key = "abcdefghijklmnopqrstuvwxyz0123456789_-*/";
    List<String> states = List.of(key + "=" + value, key + "@a-z0-9_-*/=" + value);
    List<EngineRequest> received =
        received(
            states.stream()
                .map(state -> List.of("traceparent: " + SAMPLED, "tracestate: " + state))
                .toList());
    for (int i = 0; i < states.size(); i++) {
      assertThat(received.get(i).headers("tracestate")).containsExactly(states.get(i));
    }
  }

  @Test
  void tracestate_thatTheSdkDrops_leavesTheTraceAsItIs() throws Exception {
    List<List<String>> lines =
        DROPPED.stream()
            .map(state -> List.of("traceparent: " + SAMPLED, "tracestate: " + state))
            .toList();
    assertThat(received(lines))
        .allSatisfy(request -> assertThat(traceparent(request)).contains(TRACE))
        .allSatisfy(request -> assertThat(request.headers("tracestate")).isEmpty());
  }

  @Test
  void randomFlag_passes() throws Exception {
    List<EngineRequest> received =
        received(
            List.of(
                List.of("traceparent: 00-" + IDS + "-02"),
                List.of("traceparent: 00-" + IDS + "-03")));
    assertThat(traceparent(received.get(0))).isEqualTo("00-" + IDS + "-02");
    assertThat(traceparent(received.get(1))).matches("00-" + TRACE + "-[0-9a-f]{16}-03");
  }

  private static String traceparent(EngineRequest request) {
    assertThat(request.headers("traceparent")).hasSize(1);
    return request.headers("traceparent").get(0);
  }

  /** Sends a request with each of these lines; returns what the engine received, in order. */
  private List<EngineRequest> received(List<List<String>> all) throws Exception {
    int before = engine.requests().size();
    try (GatewayRig gateway = start(tracing().build(), engine.port());
        Wire wire = new Wire(gateway.port())) {
      for (List<String> lines : all) {
        send(wire, lines);
      }
    }
    List<EngineRequest> received = engine.requests();
    return received.subList(before, received.size());
  }

  private static void send(Wire wire, List<String> lines) throws IOException {
    wire.send(Wire.chat(WHOLE, lines.toArray(String[]::new)));
    assertThat(wire.read().status()).as("%s", lines).isEqualTo(200);
  }
}
