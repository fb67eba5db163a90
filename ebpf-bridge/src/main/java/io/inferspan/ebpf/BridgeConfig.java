package io.inferspan.ebpf;

import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What a bridge is asked to watch, and how much it keeps. */
public final class BridgeConfig {

  /** How the setting's name begins, as a property; {@code INFERSPAN_EBPF_} in the environment. */
  private static final String PREFIX = "inferspan.ebpf.";

  private static final int LEAST_RING_BYTES = 1 << 16;
  private static final int MOST_RING_BYTES = 1 << 28;

  private final Builder given;

  private BridgeConfig(Builder given) {
    this.given = given;
  }

  /** Everything that carries a {@code traceparent}, and this process's own threads. */
  public static BridgeConfig defaults() {
    return builder().build();
  }

  /** Starts saying something else. */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Reads the settings.
   *
   * <table>
   * <caption>Settings, as variables of the environment</caption>
   * <tr><td>{@code INFERSPAN_EBPF_SCOPE}</td><td>{@code everything}, {@code own}, or a list of
   *     {@code pid:}, {@code command:}, {@code cgroup:} ({@code everything})</td></tr>
   * <tr><td>{@code INFERSPAN_EBPF_EVENTS}</td><td>a list of {@code cuda}, {@code nccl}, {@code
   *     syscalls}, {@code sched}, {@code tcp}, {@code ckp} (all)</td></tr>
   * <tr><td>{@code INFERSPAN_EBPF_PATHS}</td><td>{@code true} lets paths of files leave ({@code
   *     false})</td></tr>
   * <tr><td>{@code INFERSPAN_EBPF_SINGLE_FROM}</td><td>what took as long is a span of its own
   *     ({@code 1ms})</td></tr>
   * <tr><td>{@code INFERSPAN_EBPF_IGNORE_BELOW}</td><td>system calls and delays that are shorter
   *     are not even counted ({@code 0ms})</td></tr>
   * <tr><td>{@code INFERSPAN_EBPF_SLEEP_AFTER}</td><td>without a sampled request for so long,
   *     probes that only serve requests are taken off until the next; {@code 0s} is never ({@code
   *     60s})</td></tr>
   * <tr><td>{@code INFERSPAN_EBPF_MEASURE_PROGRAMS}</td><td>{@code true} has the kernel measure its
   *     programs, those of others too, for the meter of their run time ({@code false})</td></tr>
   * <tr><td>{@code INFERSPAN_EBPF_RING_BYTES}</td><td>the room for events under way, a power of two
   *     ({@code 16777216})</td></tr>
   * <tr><td>{@code INFERSPAN_EBPF_SHARED_CONTEXTS}</td><td>{@code off}, or a list of {@code read}
   *     and {@code publish}: contexts of and for other OpenTelemetry programs ({@code off})</td></tr>
   * <tr><td>{@code INFERSPAN_EBPF_BPF_FILESYSTEM}</td><td>where those are shared ({@code
   *     /sys/fs/bpf})</td></tr>
   * </table>
   *
   * @param settings tells a property's value, or null where nobody has set it
   * @throws IllegalArgumentException if a value makes no sense; the message says which and why
   */
  public static BridgeConfig from(Function<String, @Nullable String> settings) {
    Builder builder = builder();
    read(settings, "scope", value -> builder.scope(BridgeScope.parse(value)));
    read(settings, "events", value -> builder.families(EventFamily.parse(value)));
    read(settings, "paths", value -> builder.allowPaths(bool(value)));
    read(settings, "single-from", value -> builder.singleFrom(duration(value)));
    read(settings, "ignore-below", value -> builder.ignoreBelow(duration(value)));
    read(settings, "sleep-after", value -> builder.sleepAfter(duration(value)));
    read(settings, "measure-programs", value -> builder.measuresPrograms(bool(value)));
    read(settings, "ring-bytes", value -> builder.ringBytes(whole(value)));
    read(settings, "shared-contexts", value -> builder.sharedContexts(ContextSharing.parse(value)));
    read(settings, "bpf-filesystem", value -> builder.bpfFilesystem(Path.of(value)));
    return builder.build();
  }

  private static void read(
      Function<String, @Nullable String> settings, String name, Consumer<String> taker) {
    String value = settings.apply(PREFIX + name);
    if (value == null) {
      return;
    }
    try {
      taker.accept(value.strip());
    } catch (IllegalArgumentException wrong) {
      String variable =
          (PREFIX + name).toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
      throw new IllegalArgumentException(variable + ": " + wrong.getMessage(), wrong);
    }
  }

  private static boolean bool(String value) {
    return switch (value) {
      case "true" -> true;
      case "false" -> false;
      default -> throw new IllegalArgumentException("'" + value + "', but must be true or false");
    };
  }

  private static int whole(String value) {
    if (!value.matches("[0-9]{1,9}")) {
      throw new IllegalArgumentException("'" + value + "' is no number of bytes");
    }
    return Integer.parseInt(value);
  }

  /** A whole number of ns, us, ms or s. */
  private static Duration duration(String value) {
    String number = value.replaceFirst("(ns|us|ms|s)$", "");
    if (number.equals(value) || !number.matches("[0-9]{1,9}")) {
      throw new IllegalArgumentException(
          "'" + value + "', but must be a time such as 50us, 1ms or 2s");
    }
    long count = Long.parseLong(number);
    return switch (value.substring(number.length())) {
      case "ns" -> Duration.ofNanos(count);
      case "us" -> Duration.ofNanos(1_000 * count);
      case "ms" -> Duration.ofMillis(count);
      default -> Duration.ofSeconds(count);
    };
  }

  BridgeScope scope() {
    return given.scope;
  }

  Set<EventFamily> families() {
    return given.families;
  }

  boolean watchesOwnThreads() {
    return given.ownThreads;
  }

  boolean measuresPrograms() {
    return given.measuresPrograms;
  }

  boolean allowsPaths() {
    return given.allowPaths;
  }

  long singleFromNanos() {
    return given.singleFrom.toNanos();
  }

  long ignoreBelowNanos() {
    return given.ignoreBelow.toNanos();
  }

  long sleepAfterNanos() {
    return given.sleepAfter.toNanos();
  }

  int ringBytes() {
    return given.ringBytes;
  }

  Set<ContextSharing> sharedContexts() {
    return given.sharedContexts;
  }

  Path bpfFilesystem() {
    return given.bpfFilesystem;
  }

  Duration closeTimeout() {
    return given.closeTimeout;
  }

  /** Collects what a bridge is asked for. */
  public static final class Builder {

    private static final Duration LONGEST = Duration.ofMinutes(1);
    private static final Duration LONGEST_AWAKE = Duration.ofDays(1);

    private BridgeScope scope = BridgeScope.all();
    private Set<EventFamily> families = EnumSet.allOf(EventFamily.class);
    private boolean ownThreads = true;
    private boolean measuresPrograms;
    private boolean allowPaths;
    private Duration singleFrom = Duration.ofMillis(1);
    private Duration ignoreBelow = Duration.ZERO;
    private Duration sleepAfter = Duration.ofMinutes(1);
    private int ringBytes = 16 << 20;
    private Set<ContextSharing> sharedContexts = EnumSet.noneOf(ContextSharing.class);
    private Path bpfFilesystem = Path.of("/sys/fs/bpf");
    private Duration closeTimeout = Duration.ofSeconds(5);

    private Builder() {}

    /** Which other processes are watched; by default all that are sent a {@code traceparent}. */
    public Builder scope(BridgeScope scope) {
      this.scope = Objects.requireNonNull(scope, "scope");
      return this;
    }

    /** What is watched; by default all there is. */
    public Builder families(Set<EventFamily> families) {
      if (families.isEmpty()) {
        throw new IllegalArgumentException("a bridge watches at least one family of events");
      }
      this.families = EnumSet.copyOf(families);
      return this;
    }

    /** Whether this process's own threads are watched while a sampled span is current on them. */
    public Builder ownThreads(boolean watched) {
      this.ownThreads = watched;
      return this;
    }

    /**
     * Whether the kernel measures the programs, which costs every program of the machine two
     * readings of the clock a run; not by default.
     */
    public Builder measuresPrograms(boolean measured) {
      this.measuresPrograms = measured;
      return this;
    }

    /** Whether paths of files leave; by default only what kind of place and file it is. */
    public Builder allowPaths(boolean allowed) {
      this.allowPaths = allowed;
      return this;
    }

    /** What took as long is a span of its own, shorter ones are folded; 1 ms by default. */
    public Builder singleFrom(Duration least) {
      this.singleFrom = bounded("the time from which on there are single spans", least, LONGEST);
      return this;
    }

    /** System calls and delays that are shorter are left out altogether; zero by default. */
    public Builder ignoreBelow(Duration least) {
      this.ignoreBelow = bounded("the time below which calls are ignored", least, LONGEST);
      return this;
    }

    /**
     * When no sampled request has been under way for so long, the probes that only serve requests
     * are taken off, and put back for the next, of which the first milliseconds are lost; a minute
     * by default, looked at once a second. Zero is never.
     */
    public Builder sleepAfter(Duration time) {
      this.sleepAfter = bounded("the time after which probes sleep", time, LONGEST_AWAKE);
      return this;
    }

    /** How many bytes of events may wait to be read: a power of two, 16 MiB by default. */
    public Builder ringBytes(int bytes) {
      if (Integer.bitCount(bytes) != 1 || bytes < LEAST_RING_BYTES || bytes > MOST_RING_BYTES) {
        throw new IllegalArgumentException(
            "the ring has %d bytes, but must have a power of two from %d to %d"
                .formatted(bytes, LEAST_RING_BYTES, MOST_RING_BYTES));
      }
      this.ringBytes = bytes;
      return this;
    }

    /** What is done with contexts that OpenTelemetry's programs share; by default nothing. */
    public Builder sharedContexts(Set<ContextSharing> parts) {
      this.sharedContexts = EnumSet.noneOf(ContextSharing.class);
      this.sharedContexts.addAll(parts);
      return this;
    }

    /** Where they are shared, if the BPF filesystem is not at its usual place. */
    public Builder bpfFilesystem(Path directory) {
      if (!directory.isAbsolute()) {
        throw new IllegalArgumentException("'" + directory + "', but must begin with a slash");
      }
      this.bpfFilesystem = directory;
      return this;
    }

    /** How long {@link EbpfBridge#close()} may take; five seconds by default. */
    public Builder closeTimeout(Duration timeout) {
      this.closeTimeout = bounded("the time to close", timeout, LONGEST);
      return this;
    }

    /** What was said so far. */
    public BridgeConfig build() {
      Builder copy = new Builder();
      copy.scope = scope;
      copy.families = EnumSet.copyOf(families);
      copy.ownThreads = ownThreads;
      copy.measuresPrograms = measuresPrograms;
      copy.allowPaths = allowPaths;
      copy.singleFrom = singleFrom;
      copy.ignoreBelow = ignoreBelow;
      copy.sleepAfter = sleepAfter;
      copy.ringBytes = ringBytes;
      copy.sharedContexts = EnumSet.noneOf(ContextSharing.class);
      copy.sharedContexts.addAll(sharedContexts);
      copy.bpfFilesystem = bpfFilesystem;
      copy.closeTimeout = closeTimeout;
      return new BridgeConfig(copy);
    }

    private static Duration bounded(String what, Duration value, Duration longest) {
      if (value.isNegative() || value.compareTo(longest) > 0) {
        throw new IllegalArgumentException(
            what + " is " + value + ", but must be from 0 to " + longest);
      }
      return value;
    }
  }
}
