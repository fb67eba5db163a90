package io.inferspan.ebpf.clock;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpServer;
import io.inferspan.ebpf.clock.ClockOffset.Interval;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An agent that asks a server for its time over a real connection; both clocks are the test's. */
class ReferenceClockTest {

  private static final long EPOCH = 1_700_000_000_000_000_000L;
  private static final long MILLI = 1_000_000;
  private static final long SECOND = 1_000 * MILLI;

  /** Time that passes with each reading of a clock, as part of the delay of the network. */
  private static final long READING = 100_000;

  private static final Duration LONG = Duration.ofSeconds(30);

  private final AtomicLong time = new AtomicLong(SECOND);
  private final Set<Integer> ports = ConcurrentHashMap.newKeySet();
  private final AtomicLong preemptions = new AtomicLong();
  private long ahead;
  private double drift;
  private HttpServer server = serve(0);
  private final ReferenceClock clock = clock(server.getAddress().getPort(), LONG);

  @AfterEach
  void close() {
    clock.close();
    server.stop(0);
  }

  private HttpServer serve(int port) {
    try {
      HttpServer fresh =
          HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
      fresh.createContext(
          ReferenceClock.PATH,
          exchange -> {
            ports.add(exchange.getRemoteAddress().getPort());
            long arrived = theirs();
            exchange.getResponseHeaders().set(ReferenceClock.HEADER, arrived + " " + theirs());
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
          });
      fresh.start();
      return fresh;
    } catch (IOException refused) {
      throw new IllegalStateException(refused);
    }
  }

  private ReferenceClock clock(int port, Duration timeout) {
    return new ReferenceClock(
        ReferenceClock.parse("127.0.0.1:" + port),
        () -> ours(time.addAndGet(READING + preemptions.getAndSet(0))),
        time::get,
        timeout);
  }

  private static long ours(long nanos) {
    return EPOCH + nanos;
  }

  private long theirs() {
    long nanos = time.addAndGet(READING);
    return ours(nanos) - ahead(nanos);
  }

  /** The time by which our clock is ahead of theirs. */
  private long ahead(long nanos) {
    return ahead + Math.round(drift * nanos);
  }

  private void exchange(int times) {
    for (int i = 0; i < times; i++) {
      clock.exchange();
      time.addAndGet(SECOND);
    }
  }

  private void assertOffsetIsTrue() {
    Interval interval = Objects.requireNonNull(clock.now());
    assertThat(interval.errorNanos()).isBetween(1L, MILLI);
    assertThat(interval.offsetNanos() - ahead(time.get()))
        .isBetween(-interval.errorNanos(), interval.errorNanos());
  }

  @Test
  void driftAndStep_offsetIsTrueOverOneConnection() {
    ahead = -7 * MILLI;
    drift = 50e-6;
    for (int i = 0; i < 30; i++) {
      exchange(1);
      assertOffsetIsTrue();
    }
    ahead += 30 * MILLI;
    exchange(1);

    assertOffsetIsTrue();
    assertThat(clock.timesSet()).isEqualTo(1);
    assertThat(clock.answers()).isEqualTo(31);
    assertThat(clock.failures()).isZero();
    assertThat(ports).hasSize(1);
  }

  /** The thread is preempted between the readings of both clocks, for longer than the exchange. */
  @Test
  void threadIsPreempted_clockWasNotSet() {
    ahead = 4 * MILLI;
    preemptions.set(5 * MILLI);
    exchange(1);

    assertThat(clock.failures()).isZero();
    assertThat(clock.answers()).isEqualTo(1);
    assertThat(clock.timesSet()).isZero();
    Interval interval = Objects.requireNonNull(clock.now());
    assertThat(interval.offsetNanos() - ahead)
        .isBetween(-interval.errorNanos(), interval.errorNanos());
  }

  @Test
  void anotherHostAnswers_itsOffsetIsNotMixedWithTheOld() {
    ahead = 4 * MILLI;
    exchange(2);
    int port = server.getAddress().getPort();
    server.stop(0);
    exchange(1);
    // So close to the old offset that the limits do not contradict each other.
    ahead += 430_000;
    server = serve(port);
    exchange(1);

    assertOffsetIsTrue();
    assertThat(clock.timesSet()).isZero();
  }

  @Test
  void referenceIsGone_offsetEndsAfterTenSeconds() {
    ahead = 4 * MILLI;
    exchange(2);
    server.stop(0);
    exchange(5);
    assertOffsetIsTrue();
    exchange(6);

    assertThat(clock.now()).isNull();
    assertThat(clock.failures()).isEqualTo(11);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "HTTP/1.1 404 Not Found\r\n\r\n",
        "HTTP/1.1 200 OK\r\nInferspan-Clock: 5 4\r\n\r\n",
        "HTTP/1.1 200 OK\r\nInferspan-Clock: 5 99999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nInferspan-Clock: 99999999999999999999 99999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nInferspan-Clock: 9223372036854775808 9223372036854775808\r\n\r\n",
        "HTTP/1.1 200 OK\r\nInferspan-Clock: -4 5\r\n\r\n",
        "HTTP/1.1 200 OK\r\nInferspan-Clock: 4 5\r\n\r\nbody",
        "HTTP/1.1 200 OK\r\nInferspan-Clock: 4 5\r\n"
      })
  void malformedAnswer_isCountedAndIgnored(String answer) throws Exception {
    assertIgnored(answer);
  }

  @Test
  void endlessAnswer_isCutOff() throws Exception {
    assertIgnored("HTTP/1.1 200 OK\r\n" + "x: y\r\n".repeat(100_000));
  }

  @Test
  void silentReference_isNotAwaited() throws Exception {
    try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        ReferenceClock asking = clock(listener.getLocalPort(), Duration.ofMillis(10))) {
      asking.exchange();

      assertThat(asking.failures()).isEqualTo(1);
    }
  }

  private void assertIgnored(String answer) throws Exception {
    try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        ReferenceClock asking = clock(listener.getLocalPort(), LONG)) {
      Thread hostile = Thread.ofPlatform().start(() -> answerOnce(listener, answer));
      asking.exchange();

      assertThat(asking.failures()).isEqualTo(1);
      assertThat(asking.answers()).isZero();
      assertThat(asking.now()).isNull();
      hostile.join();
    }
  }

  private static void answerOnce(ServerSocket listener, String answer) {
    try (Socket socket = listener.accept()) {
      socket.getOutputStream().write(answer.getBytes(ISO_8859_1));
      socket.shutdownOutput();
      int ignored = socket.getInputStream().readAllBytes().length;
    } catch (IOException closed) {
      // The agent closes the connection early.
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "host", "host:0", "host:65536", "host:1/x", "u@host:1", "a b:1", ":1"})
  void otherThanHostAndPort_isRefused(String address) {
    assertThatThrownBy(() -> ReferenceClock.parse(address))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("'" + address + "' is not host:port of an agent with --metrics-port");
  }
}
