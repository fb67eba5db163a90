import java.util.List;

/** A scenario: a kind of request, the number of requests, and the bars for the cost of tracing. */
record Case(String name, String sentence, Turn turn, Turn warmUp, int rounds, List<Bar> bars) {

  /** A load, and the number of connections and requests of one turn. */
  record Turn(Load load, int connections, int requests) {}

  /** The maximum cost of a subject, as a multiple of the gateway without Inferspan. */
  record Bar(Subject subject, double most) {}

  private static final String CHAT = "/v1/chat/completions";
  private static final int STREAM_BYTES = 10_000;

  private static final Turn JSON = new Turn(new Load(CHAT, 200, false, false, 300, -1), 32, 5_000);
  private static final Turn STREAMS =
      new Turn(new Load(CHAT + "?mode=sse", 200, true, false, STREAM_BYTES, -1), 64, 640);
  private static final Turn BURSTS =
      new Turn(new Load(CHAT + "?mode=burst", 200, true, false, STREAM_BYTES, -1), 4, 1_000);

  static final List<Case> ALL =
      List.of(
          new Case(
              "json",
              "a chat request of 200 bytes of JSON, answered with 400 bytes",
              JSON,
              JSON,
              48,
              List.of(
                  new Bar(Subject.OURS_0, 1.01),
                  new Bar(Subject.OURS_10, 1.05),
                  new Bar(Subject.OURS_100, 1.35))),
          new Case(
              "sse",
              "a chat request of 200 bytes of JSON, answered with 64 events, 5 ms apart",
              STREAMS,
              BURSTS,
              18,
              List.of(new Bar(Subject.OURS_100, 1.03))),
          new Case(
              "burst",
              "a chat request of 200 bytes of JSON, answered with 64 events at once",
              BURSTS,
              BURSTS,
              48,
              List.of()));
}
