package io.inferspan.ebpf.clock;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.inferspan.ebpf.clock.ClockOffset.Interval;
import io.inferspan.ebpf.linux.Clocks;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.net.ProtocolException;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The clock of another agent's host, compared with ours by one HTTP request per second.
 *
 * <p>A response has two times of the other clock: when the request arrived and when the response
 * was sent. The estimate starts again with each new connection, because the connection may lead to
 * another host.
 */
public final class ReferenceClock implements AutoCloseable {

  /** The path of the request. */
  public static final String PATH = "/clock";

  /** The header of the response, with both times in nanoseconds since the epoch. */
  public static final String HEADER = "Inferspan-Clock";

  private static final Logger LOGGER = System.getLogger("io.inferspan.ebpf");
  private static final Pattern RESPONSE =
      Pattern.compile(
          "HTTP/1\\.1 200 .*?\r\n"
              + HEADER
              + ": (\\d{1,18}|[1-8]\\d{18}) (\\d{1,18}|[1-8]\\d{18})\r\n.*",
          Pattern.DOTALL | Pattern.CASE_INSENSITIVE);
  private static final String END = "\r\n\r\n";
  private static final int MAX_BYTES = 1_024;
  private static final int LAST_PORT = 65_535;
  private static final Duration TIMEOUT = Duration.ofSeconds(1);
  private static final long EVERY_NANOS = 1_000_000_000L;

  /**
   * Each exchange is timed with this host's clock and with the monotonic clock. If the two
   * durations differ by more than this, plus the time between the readings of the two clocks, a
   * clock was set during the exchange.
   */
  private static final long SET_NANOS = 1_000_000L;

  /** If more than this time passed between the readings of the two clocks, both are read again. */
  private static final long TIGHT_NANOS = 10_000L;

  private static final int MAX_READINGS = 5;

  private final URI reference;
  private final LongSupplier realtime;
  private final LongSupplier monotonic;
  private final int timeoutMillis;
  private final byte[] request;
  private final byte[] response = new byte[MAX_BYTES];
  private final Thread thread =
      Thread.ofPlatform().daemon().name("inferspan-ebpf-clock").unstarted(this::run);
  private final LongAdder answers = new LongAdder();
  private final LongAdder failures = new LongAdder();
  private ClockOffset offset = new ClockOffset();
  private long answeredNanos;
  private long timesSet;
  private volatile boolean closed;
  private volatile @Nullable Socket connection;

  /** A reading of our clock, between two readings of the monotonic clock. */
  private record Reading(long beganNanos, long epochNanos, long endedNanos) {

    private long widthNanos() {
      return endedNanos - beganNanos;
    }
  }

  /**
   * Creates a comparison without starting its thread.
   *
   * @param reference the host and the port of the other agent, from {@link #parse}
   * @param realtime our clock, in nanoseconds since the epoch
   * @param monotonic a clock that is never set, in nanoseconds
   * @param timeout the limit for connecting, and for a response
   */
  ReferenceClock(URI reference, LongSupplier realtime, LongSupplier monotonic, Duration timeout) {
    this.reference = reference;
    this.realtime = realtime;
    this.monotonic = monotonic;
    this.timeoutMillis = Math.toIntExact(timeout.toMillis());
    this.request =
        "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n"
            .formatted(PATH, reference.getAuthority())
            .getBytes(ISO_8859_1);
  }

  /** Parses {@code host:port}; an IPv6 address is in brackets. */
  public static URI parse(String address) {
    URI uri = null;
    try {
      uri = URI.create("http://" + address);
    } catch (IllegalArgumentException malformed) {
      // Reported below.
    }
    if (uri == null
        || uri.getHost() == null
        || uri.getPort() < 1
        || uri.getPort() > LAST_PORT
        || !address.equals(uri.getHost() + ":" + uri.getPort())) {
      throw new IllegalArgumentException(
          "'" + address + "' is not host:port of an agent with --metrics-port");
    }
    return uri;
  }

  /**
   * Starts a comparison, which {@code owner} receives and must close; returns null without a
   * reference.
   */
  public static @Nullable ReferenceClock start(
      @Nullable URI reference, Consumer<ReferenceClock> owner) {
    if (reference == null) {
      return null;
    }
    ReferenceClock clock =
        new ReferenceClock(reference, Clocks::realtimeNanos, Clocks::monotonicNanos, TIMEOUT);
    owner.accept(clock);
    clock.thread.start();
    return clock;
  }

  private void run() {
    while (!closed) {
      exchange();
      LockSupport.parkNanos(EVERY_NANOS);
    }
    disconnect();
  }

  /** Makes one exchange. Must not be called after the thread was started. */
  void exchange() {
    try {
      ask(connected());
    } catch (IOException | RuntimeException failed) {
      disconnect();
      if (!closed) {
        Level level = failures() == 0 ? Level.WARNING : Level.DEBUG;
        failures.increment();
        LOGGER.log(
            level,
            "The reference clock of {0} cannot be read ({1}), so spans have no clock.offset_ms",
            reference.getAuthority(),
            failed.toString());
      }
    }
  }

  private Socket connected() throws IOException {
    Socket open = connection;
    if (open != null) {
      return open;
    }
    Socket fresh = new Socket();
    connection = fresh;
    fresh.setTcpNoDelay(true);
    fresh.setSoTimeout(timeoutMillis);
    String host = reference.getHost().replaceAll("[\\[\\]]", "");
    fresh.connect(new InetSocketAddress(host, reference.getPort()), timeoutMillis);
    synchronized (this) {
      timesSet += offset.timesSet();
      offset = new ClockOffset();
      answeredNanos = 0;
    }
    return fresh;
  }

  private void ask(Socket socket) throws IOException {
    Reading sent = readClocks();
    socket.getOutputStream().write(request);
    Matcher answer = RESPONSE.matcher(read(socket, sent.beganNanos));
    Reading received = readClocks();
    if (!answer.matches()) {
      throw new ProtocolException(
          "the response has no valid header " + HEADER + ": it is not from an agent");
    }
    long arrived = Long.parseLong(answer.group(1));
    long left = Long.parseLong(answer.group(2));
    long tookNanos = received.endedNanos - sent.beganNanos;
    long unknownNanos = SET_NANOS + sent.widthNanos() + received.widthNanos();
    if (Math.abs(received.epochNanos - sent.epochNanos - tookNanos) > unknownNanos
        || left < arrived
        || left - arrived > tookNanos + SET_NANOS) {
      throw new ProtocolException("a clock was set during the exchange");
    }
    synchronized (this) {
      offset.sent(sent.epochNanos, arrived);
      offset.received(left, received.epochNanos);
      answeredNanos = received.endedNanos;
    }
    answers.increment();
  }

  /**
   * Reads both clocks, up to five times, and returns the tightest reading: the thread may be
   * preempted between the clocks.
   */
  private Reading readClocks() {
    Reading best = readOnce();
    for (int i = 1; i < MAX_READINGS && best.widthNanos() > TIGHT_NANOS; i++) {
      Reading next = readOnce();
      best = next.widthNanos() < best.widthNanos() ? next : best;
    }
    return best;
  }

  private Reading readOnce() {
    return new Reading(monotonic.getAsLong(), realtime.getAsLong(), monotonic.getAsLong());
  }

  /** Reads the header of the response, which has no body. */
  private String read(Socket socket, long beganNanos) throws IOException {
    int length = 0;
    while (length < MAX_BYTES) {
      int more = socket.getInputStream().read(response, length, MAX_BYTES - length);
      if (more < 0 || (monotonic.getAsLong() - beganNanos) / 1_000_000 > timeoutMillis) {
        break;
      }
      length += more;
      String text = new String(response, 0, length, ISO_8859_1);
      int end = text.indexOf(END);
      if (end >= 0 && end + END.length() == length) {
        return text;
      }
    }
    throw new ProtocolException("the response is longer or slower than an agent's, or incomplete");
  }

  private void disconnect() {
    Socket open = connection;
    connection = null;
    if (open != null) {
      try {
        open.close();
      } catch (IOException ignored) {
        // It is not used again.
      }
    }
  }

  /**
   * Returns how far our clock was ahead of the reference at this time of our clock; null without a
   * response in the last ten seconds.
   */
  public synchronized @Nullable Interval at(long epochNanos) {
    if (answeredNanos == 0 || monotonic.getAsLong() - answeredNanos > ClockOffset.PERIOD_NANOS) {
      return null;
    }
    Interval interval = offset.at(epochNanos);
    return interval == null ? null : new Interval(-interval.offsetNanos(), interval.errorNanos());
  }

  /** Returns the current offset, as {@link #at} does. */
  public @Nullable Interval now() {
    return at(realtime.getAsLong());
  }

  /** Returns the number of responses. */
  public long answers() {
    return answers.sum();
  }

  /** Returns the number of failed exchanges. */
  public long failures() {
    return failures.sum();
  }

  /** Returns how often the estimate started again because one of the clocks was set. */
  public synchronized long timesSet() {
    return timesSet + offset.timesSet();
  }

  @Override
  public void close() {
    closed = true;
    disconnect();
    LockSupport.unpark(thread);
  }
}
