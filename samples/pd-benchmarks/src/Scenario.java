import java.util.List;
import java.util.stream.Stream;

/** One kind of request, the servers under test, and the bars for the sidecar's cost. */
record Scenario(
    String name, String sentence, Load load, Pace pace, List<Subject> subjects, List<Bar> bars) {

  /** The number of connections and requests, and the rate.
   *
   * @param requests the number of requests per round
   * @param ratePerSecond 0 for a closed loop that measures CPU time; otherwise the rate of an open loop that measures added latency
   */
  record Pace(int connections, int requests, int ratePerSecond) {
    boolean isOpenLoop() {
      return ratePerSecond > 0;
    }
  }

  /** A server, and the percentage of sampled requests; if negative, requests have no {@code traceparent}.
   */
  record Subject(Peer peer, int sampledPercent) {
    String label() {
      return peer == Peer.TRACED ? peer.label + " " + sampledPercent + " %" : peer.label;
    }
  }

  /** A bar: the subject's figure is at most {@code most} times that of {@code against}. */
  record Bar(Subject subject, Subject against, double most) {}

  private static final Subject NGINX = new Subject(Peer.NGINX, -1);
  private static final Subject HAPROXY = new Subject(Peer.HAPROXY, -1);
  private static final Subject LUA = new Subject(Peer.NGINX_LUA, -1);
  private static final Subject GO = new Subject(Peer.GO, -1);
  private static final Subject EPOLL = new Subject(Peer.EPOLL, -1);
  private static final Subject IO_URING = new Subject(Peer.IO_URING, -1);
  private static final Subject UNTRACED = new Subject(Peer.EPOLL, 0);
  private static final Subject TRACED_10 = new Subject(Peer.TRACED, 10);
  private static final Subject TRACED_100 = new Subject(Peer.TRACED, 100);

  /** The minimum size of 64 events, which a proxy may shorten when it edits them. */
  private static final int STREAM_BYTES = 11_000;

  private static final int FEW = 4;
  private static final Load BURST = Load.get("/v1/models?mode=burst", STREAM_BYTES);
  private static final Load JSON = Load.get("/v1/models", 200);
  private static final Load PD_2K = Load.disaggregated("/v1/chat/completions", 2_048, false, 320);

  static final List<Scenario> ALL =
      List.of(
          new Scenario(
              "json",
              "200 bytes of JSON, passed through",
              JSON,
              new Pace(32, 100_000, 0),
              List.of(NGINX, HAPROXY, GO, EPOLL, IO_URING),
              List.of(new Bar(EPOLL, NGINX, 1.7), new Bar(IO_URING, NGINX, 1.3))),
          new Scenario(
              "sse",
              "64 events, 5 ms apart, passed through",
              Load.get("/v1/models?mode=sse", STREAM_BYTES),
              new Pace(64, 1_000, 0),
              List.of(NGINX, HAPROXY, GO, EPOLL, IO_URING),
              bars(1.2, NGINX)),
          new Scenario(
              "burst",
              "64 events at once, passed through; so few connections that most events are read one"
                  + " by one",
              BURST,
              new Pace(FEW, 8_000, 0),
              List.of(NGINX, LUA, GO, EPOLL, IO_URING),
              List.of(new Bar(IO_URING, LUA, 1.1))),
          new Scenario(
              "crowd",
              "64 events at once, passed through; so many connections that most events are read"
                  + " together",
              BURST,
              new Pace(32, 12_000, 0),
              List.of(NGINX, LUA, GO, EPOLL, IO_URING),
              List.of()),
          new Scenario(
              "pd2k",
              "prefill, then decode; chat body of 2 KB",
              PD_2K,
              new Pace(32, 15_000, 0),
              List.of(LUA, GO, EPOLL, IO_URING),
              bars(0.6, LUA, GO)),
          new Scenario(
              "pd200k",
              "prefill, then decode; chat body of 200 KB",
              Load.disaggregated("/v1/chat/completions", 204_800, false, 320),
              new Pace(32, 1_500, 0),
              List.of(LUA, GO, EPOLL, IO_URING),
              bars(0.25, LUA, GO)),
          new Scenario(
              "pdburst",
              "prefill, then decode with 64 events at once; chat body of 2 KB",
              Load.disaggregated("/v1/chat/completions?mode=burst", 2_048, true, STREAM_BYTES),
              new Pace(FEW, 6_000, 0),
              List.of(LUA, GO, EPOLL, IO_URING),
              List.of(new Bar(IO_URING, LUA, 1.1))),
          new Scenario(
              "latency",
              "200 bytes of JSON, 2,000 a second",
              JSON,
              new Pace(64, 20_000, 2_000),
              List.of(NGINX, GO, EPOLL, IO_URING),
              bars(1.0, GO)),
          new Scenario(
              "pdlatency",
              "prefill, then decode; chat body of 2 KB, 1,000 a second",
              PD_2K,
              new Pace(64, 10_000, 1_000),
              List.of(LUA, GO, EPOLL, IO_URING),
              bars(1.0, GO)),
          new Scenario(
              "tracing",
              "pd2k with tracing",
              PD_2K,
              new Pace(32, 15_000, 0),
              List.of(UNTRACED, TRACED_10, TRACED_100),
              List.of(new Bar(TRACED_10, UNTRACED, 1.05), new Bar(TRACED_100, UNTRACED, 1.30))),
          new Scenario(
              "ssetracing",
              "prefill, then decode with 64 events, 5 ms apart, with tracing",
              Load.disaggregated("/v1/chat/completions?mode=sse", 2_048, true, STREAM_BYTES),
              new Pace(64, 1_000, 0),
              List.of(UNTRACED, TRACED_100),
              List.of(new Bar(TRACED_100, UNTRACED, 1.03))));

  private static List<Bar> bars(double most, Subject... peers) {
    return Stream.of(peers)
        .flatMap(peer -> Stream.of(new Bar(EPOLL, peer, most), new Bar(IO_URING, peer, most)))
        .toList();
  }
}
