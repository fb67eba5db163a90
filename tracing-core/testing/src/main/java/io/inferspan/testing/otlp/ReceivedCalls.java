package io.inferspan.testing.otlp;

import io.inferspan.testing.server.Arrivals;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** The latest calls to an {@link OtlpReceiver}, limited in number and bytes. */
final class ReceivedCalls {
  /** The bodies of all requests, without framing and decompressed. */
  final Arrivals<byte[]> bodies =
      new Arrivals<>(
          OtlpReceiver.MAX_RETAINED_CALLS, OtlpReceiver.MAX_RETAINED_BYTES, body -> body.length);

  /** The export calls, accepted or not. */
  final Arrivals<Call> calls = new Arrivals<>(OtlpReceiver.MAX_RETAINED_CALLS);

  /** Why requests were not accepted; only the last reason is kept. */
  final Arrivals<String> problems = new Arrivals<>(1);

  record Call(String protocol, Map<String, String> headers) {}

  Set<String> protocols() {
    return calls.list().stream().map(Call::protocol).collect(Collectors.toCollection(TreeSet::new));
  }

  List<Map<String, String>> headers() {
    return calls.list().stream().map(Call::headers).toList();
  }

  void clear() {
    bodies.clear();
    calls.clear();
    problems.clear();
  }

  void await(int wanted, Duration timeout) {
    calls.await(
        () -> calls.count() >= wanted,
        timeout,
        () ->
            "expected %d export calls within %d ms, but: %s"
                .formatted(wanted, timeout.toMillis(), this));
  }

  /** Returns a clause for a failure message. */
  @Override
  public String toString() {
    String received = "the receiver got " + calls.count() + " export calls " + protocols();
    List<String> last = problems.list();
    return last.isEmpty()
        ? received
        : received + ", requests not accepted: " + problems.count() + " (" + last.get(0) + ")";
  }
}
