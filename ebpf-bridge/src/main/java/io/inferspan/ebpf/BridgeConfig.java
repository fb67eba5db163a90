package io.inferspan.ebpf;

import io.inferspan.ebpf.clock.ReferenceClock;
import io.inferspan.ebpf.support.Setting;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Configuration of a bridge: the processes and events it observes, and its limits. */
public final class BridgeConfig {

  private static final int MIN_RING_BYTES = 1 << 16;
  private static final int MAX_RING_BYTES = 1 << 28;

  private final Builder given;

  private BridgeConfig(Builder given) {
    this.given = given;
  }

  /**
   * Returns a configuration that observes every process that receives a {@code traceparent}, and
   * this process's own threads.
   */
  public static BridgeConfig defaults() {
    return builder().build();
  }

  /** Returns a builder with the defaults. */
  public static Builder builder() {
    return new Builder();
  }

  /**
   * Reads the settings {@code INFERSPAN_EBPF_…}, which the module's README lists.
   *
   * @param settings returns a property's value, or null if it is not set
   * @throws IllegalArgumentException if a value is invalid; the message names the setting and the
   *     reason
   */
  public static BridgeConfig from(Function<String, @Nullable String> settings) {
    return builderFrom(settings).build();
  }

  /** Returns a builder with the settings that {@link #from} reads. */
  public static Builder builderFrom(Function<String, @Nullable String> settings) {
    Builder builder = builder();
    read(settings, Setting.SCOPE, value -> builder.scope(BridgeScope.parse(value)));
    read(settings, Setting.EVENTS, value -> builder.families(EventFamily.parse(value)));
    read(settings, Setting.PATHS, value -> builder.allowPaths(bool(value)));
    read(settings, Setting.SINGLE_FROM, value -> builder.singleFrom(duration(value)));
    read(settings, Setting.IGNORE_BELOW, value -> builder.ignoreBelow(duration(value)));
    read(settings, Setting.SLEEP_AFTER, value -> builder.sleepAfter(duration(value)));
    read(settings, Setting.BUDGET, value -> builder.budget(TracingBudget.parse(value)));
    read(settings, Setting.LAUNCHES, value -> builder.launches(LaunchDetail.parse(value)));
    read(settings, Setting.MEASURE_PROGRAMS, value -> builder.measuresPrograms(bool(value)));
    read(settings, Setting.RING_BYTES, value -> builder.ringBytes(whole(value)));
    read(
        settings,
        Setting.SHARED_CONTEXTS,
        value -> builder.sharedContexts(ContextSharing.parse(value)));
    read(settings, Setting.BPF_FILESYSTEM, value -> builder.bpfFilesystem(Path.of(value)));
    read(settings, Setting.CLOCK_REFERENCE, builder::clockReference);
    return builder;
  }

  private static void read(
      Function<String, @Nullable String> settings, Setting setting, Consumer<String> setter) {
    String value = settings.apply(setting.property());
    if (value == null) {
      return;
    }
    try {
      setter.accept(value.strip());
    } catch (IllegalArgumentException wrong) {
      throw new IllegalArgumentException(setting.variable() + ": " + wrong.getMessage(), wrong);
    }
  }

  private static boolean bool(String value) {
    return switch (value) {
      case "true" -> true;
      case "false" -> false;
      default -> throw new IllegalArgumentException("'" + value + "' is neither true nor false");
    };
  }

  private static int whole(String value) {
    if (!value.matches("[0-9]{1,9}")) {
      throw new IllegalArgumentException("'" + value + "' is not a number of bytes");
    }
    return Integer.parseInt(value);
  }

  /** Parses a whole number of ns, us, ms or s. */
  private static Duration duration(String value) {
    String number = value.replaceFirst("(ns|us|ms|s)$", "");
    if (number.equals(value) || !number.matches("[0-9]{1,9}")) {
      throw new IllegalArgumentException("'" + value + "' is not a time such as 50us, 1ms or 2s");
    }
    long count = Long.parseLong(number);
    return switch (value.substring(number.length())) {
      case "ns" -> Duration.ofNanos(count);
      case "us" -> Duration.ofNanos(1_000 * count);
      case "ms" -> Duration.ofMillis(count);
      default -> Duration.ofSeconds(count);
    };
  }

  /** Returns the observed processes, in addition to this one. */
  public BridgeScope scope() {
    return given.scope;
  }

  /** Returns the observed event families. */
  public Set<EventFamily> families() {
    return given.families;
  }

  /** Returns whether this process's own threads are observed. */
  public boolean watchesOwnThreads() {
    return given.ownThreads;
  }

  /** Returns whether the kernel measures the run time of BPF programs. */
  public boolean measuresPrograms() {
    return given.measuresPrograms;
  }

  /** Returns whether file paths are recorded. */
  public boolean allowsPaths() {
    return given.allowPaths;
  }

  /**
   * Returns the minimum duration of an event that gets its own span; shorter events share a span.
   */
  public long singleFromNanos() {
    return given.singleFrom.toNanos();
  }

  /** Returns the minimum duration of recorded system calls and scheduling delays. */
  public long ignoreBelowNanos() {
    return given.ignoreBelow.toNanos();
  }

  /**
   * Returns the time without a sampled request after which probes are detached; zero means never.
   */
  public long sleepAfterNanos() {
    return given.sleepAfter.toNanos();
  }

  /** Returns the limit on the cost of tracing, or null if there is none. */
  public @Nullable TracingBudget budget() {
    return given.budget;
  }

  /** Returns the highest detail level of launches of CUDA kernels and graphs. */
  public LaunchDetail launches() {
    return given.launches;
  }

  /**
   * Returns whether all CPU time of this process counts towards the budget, rather than only that
   * of the bridge's threads.
   */
  public boolean wholeProcess() {
    return given.wholeProcess;
  }

  /** Returns the size of the event ring in bytes. */
  public int ringBytes() {
    return given.ringBytes;
  }

  /** Returns how trace contexts are shared with other tools. */
  public Set<ContextSharing> sharedContexts() {
    return given.sharedContexts;
  }

  /** Returns the BPF filesystem that holds the map of shared contexts. */
  public Path bpfFilesystem() {
    return given.bpfFilesystem;
  }

  /** Returns the address of the reference clock, or null if there is none. */
  public @Nullable URI clockReference() {
    return given.clockReference;
  }

  Duration closeTimeout() {
    return given.closeTimeout;
  }

  /** Builder for {@link BridgeConfig}. */
  public static final class Builder {

    private static final Duration MAX_DURATION = Duration.ofMinutes(1);
    private static final Duration MAX_SLEEP_AFTER = Duration.ofDays(1);

    private BridgeScope scope = BridgeScope.all();
    private Set<EventFamily> families = EnumSet.allOf(EventFamily.class);
    private boolean ownThreads = true;
    private boolean measuresPrograms;
    private boolean allowPaths;
    private Duration singleFrom = Duration.ofMillis(1);
    private Duration ignoreBelow = Duration.ZERO;
    private Duration sleepAfter = Duration.ofMinutes(1);
    private @Nullable TracingBudget budget;
    private LaunchDetail launches = LaunchDetail.FULL;
    private boolean wholeProcess;
    private int ringBytes = 16 << 20;
    private Set<ContextSharing> sharedContexts = EnumSet.noneOf(ContextSharing.class);
    private Path bpfFilesystem = Path.of("/sys/fs/bpf");
    private @Nullable URI clockReference;
    private Duration closeTimeout = Duration.ofSeconds(5);

    private Builder() {}

    /**
     * Sets the observed processes, in addition to this one; by default all that receive a {@code
     * traceparent}.
     */
    public Builder scope(BridgeScope scope) {
      this.scope = Objects.requireNonNull(scope, "scope");
      return this;
    }

    /** Sets the observed event families; all by default. */
    public Builder families(Set<EventFamily> families) {
      if (families.isEmpty()) {
        throw new IllegalArgumentException("families is empty, but must contain an event family");
      }
      this.families = EnumSet.copyOf(families);
      return this;
    }

    /**
     * Sets whether this process's own threads are observed while a sampled span is current on them.
     */
    public Builder ownThreads(boolean watched) {
      this.ownThreads = watched;
      return this;
    }

    /**
     * Sets whether the kernel measures the run time of BPF programs, which costs every BPF program
     * of the machine two clock readings per run; off by default.
     */
    public Builder measuresPrograms(boolean measured) {
      this.measuresPrograms = measured;
      return this;
    }

    /**
     * Sets whether file paths are recorded; by default only the kind of directory and the extension
     * are.
     */
    public Builder allowPaths(boolean allowed) {
      this.allowPaths = allowed;
      return this;
    }

    /**
     * Sets the minimum duration of an event that gets its own span; 1 ms by default. Shorter events
     * of one kind share a span, except the first few.
     */
    public Builder singleFrom(Duration least) {
      this.singleFrom = bounded("singleFrom", least, MAX_DURATION);
      return this;
    }

    /**
     * Sets the minimum duration of recorded system calls and scheduling delays; zero by default.
     */
    public Builder ignoreBelow(Duration least) {
      this.ignoreBelow = bounded("ignoreBelow", least, MAX_DURATION);
      return this;
    }

    /**
     * Sets the time without a sampled request after which probes for sampled requests are detached;
     * a minute by default, checked once a second. They are attached again for the next sampled
     * request, but miss its first milliseconds. Zero keeps them attached.
     */
    public Builder sleepAfter(Duration time) {
      this.sleepAfter = bounded("sleepAfter", time, MAX_SLEEP_AFTER);
      return this;
    }

    /**
     * Limits the cost of tracing; no limit by default. The bridge lowers the detail levels of
     * events to stay within the limit.
     */
    public Builder budget(TracingBudget limit) {
      this.budget = Objects.requireNonNull(limit, "budget");
      return this;
    }

    /** Sets the highest detail level of launches of CUDA kernels and graphs; full by default. */
    public Builder launches(LaunchDetail most) {
      this.launches = Objects.requireNonNull(most, "most");
      return this;
    }

    /**
     * Sets whether all CPU time of this process counts towards the budget, as in an agent; by
     * default only that of the bridge's threads counts.
     */
    public Builder wholeProcess(boolean whole) {
      this.wholeProcess = whole;
      return this;
    }

    /** Sets the size of the event ring in bytes: a power of two, 16 MiB by default. */
    public Builder ringBytes(int bytes) {
      if (Integer.bitCount(bytes) != 1 || bytes < MIN_RING_BYTES || bytes > MAX_RING_BYTES) {
        throw new IllegalArgumentException(
            "ringBytes is %d, but must be a power of two from %d to %d"
                .formatted(bytes, MIN_RING_BYTES, MAX_RING_BYTES));
      }
      this.ringBytes = bytes;
      return this;
    }

    /** Sets how trace contexts are shared with other OpenTelemetry tools; not at all by default. */
    public Builder sharedContexts(Set<ContextSharing> parts) {
      this.sharedContexts = EnumSet.noneOf(ContextSharing.class);
      this.sharedContexts.addAll(parts);
      return this;
    }

    /** Sets the mount point of the BPF filesystem; {@code /sys/fs/bpf} by default. */
    public Builder bpfFilesystem(Path directory) {
      if (!directory.isAbsolute()) {
        throw new IllegalArgumentException("'" + directory + "' is not an absolute path");
      }
      this.bpfFilesystem = directory;
      return this;
    }

    /**
     * Sets the agent whose clock is the reference for this host's clock, by the {@code host:port}
     * of its metrics; none by default. With a reference, spans of engine steps contain how far this
     * host's clock is ahead of it.
     */
    public Builder clockReference(String address) {
      this.clockReference = ReferenceClock.parse(address);
      return this;
    }

    /** Sets how long {@link EbpfBridge#close()} may take; five seconds by default. */
    public Builder closeTimeout(Duration timeout) {
      this.closeTimeout = bounded("closeTimeout", timeout, MAX_DURATION);
      return this;
    }

    /** Returns the configuration. */
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
      copy.budget = budget;
      copy.launches = launches;
      copy.wholeProcess = wholeProcess;
      copy.ringBytes = ringBytes;
      copy.sharedContexts = EnumSet.noneOf(ContextSharing.class);
      copy.sharedContexts.addAll(sharedContexts);
      copy.bpfFilesystem = bpfFilesystem;
      copy.clockReference = clockReference;
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
