package io.inferspan.samples.kvcache;

import com.sun.management.OperatingSystemMXBean;
import io.inferspan.kvcache.block.BlockKeys;
import io.inferspan.kvcache.events.EventSource;
import io.inferspan.kvcache.events.KvEventCount;
import io.inferspan.kvcache.events.KvEventCounts;
import io.inferspan.kvcache.events.KvEventOptions;
import io.inferspan.kvcache.events.KvEventSubscriber;
import io.inferspan.kvcache.index.MemoryBlockIndex;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures the rate at which events from libzmq publishers are read into an in-memory index; exits
 * with status 1 if a bar (performance goal) is missed. The script {@code ingestion} runs it on one
 * core.
 *
 * <p>The rate is given per second of wall time and per second of CPU time. HWM is ZMQ's high-water
 * mark: the number of messages that a publisher queues before it drops further ones.
 */
public final class Ingestion {

  private static final double BAR = 200_000;
  private static final int ENGINES = 4;
  private static final int BLOCKS_PER_BATCH = 32;
  private static final long KEPT_BATCHES = 1_000;
  private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final long PATIENCE_NANOS = TimeUnit.MINUTES.toNanos(2);
  private static final OperatingSystemMXBean SYSTEM =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private final String algorithm;
  private final int batches;
  private final int highWater;

  private Ingestion(String algorithm, int batches, int highWater) {
    this.algorithm = algorithm;
    this.batches = batches;
    this.highWater = highWater;
  }

  /**
   * The result of a run.
   *
   * @param cpuSeconds the CPU time of the whole process, with garbage collector and compilers
   * @param left the number of blocks in the index at the end
   */
  private record Outcome(
      long published, KvEventCounts counts, double wallSeconds, double cpuSeconds, long left) {

    double perSecond(double seconds) {
      return counts.get(KvEventCount.STORED_BLOCKS) / seconds;
    }

    boolean accounted() {
      return counts.get(KvEventCount.BATCHES) + counts.get(KvEventCount.MISSED_BATCHES)
          == published;
    }
  }

  /** Runs the benchmark. The first argument is the publisher's script, the second its core. */
  public static void main(String[] args) throws IOException {
    String[] publisher = {"taskset", "-c", args[1], "/usr/bin/python3", args[0]};
    new Ingestion("cbor-fnv", 5_000, 100_000).run(publisher);
    System.out.printf(
        Locale.ROOT,
        "%-28s %12s %12s %10s %10s %10s %s%n",
        "",
        "blocks/s wall",
        "blocks/s CPU",
        "published",
        "applied",
        "lost",
        "accounted");
    boolean met = true;
    for (String algorithm : new String[] {"cbor-fnv", "xxh64"}) {
      Outcome below = new Ingestion(algorithm, 20_000, 100_000).run(publisher);
      print(algorithm + ", below the HWM", below);
      met &= below.perSecond(below.cpuSeconds()) >= BAR;
      met &= below.counts().get(KvEventCount.MISSED_BATCHES) == 0 && below.accounted();
      met &= below.left() == KEPT_BATCHES * BLOCKS_PER_BATCH;
    }
    Outcome above = new Ingestion("cbor-fnv", 20_000, 100).run(publisher);
    print("cbor-fnv, HWM of 100", above);
    met &= above.accounted();
    System.out.println(
        met
            ? "ok"
            : "MISSED; the bars are 200,000 blocks/s of CPU time, no batch lost below the HWM, and all"
                + " batches accounted for");
    System.exit(met ? 0 : 1);
  }

  private static void print(String what, Outcome outcome) {
    System.out.printf(
        Locale.ROOT,
        "%-28s %13.0f %12.0f %10d %10d %10d %s%n",
        what,
        outcome.perSecond(outcome.wallSeconds()),
        outcome.perSecond(outcome.cpuSeconds()),
        outcome.published(),
        outcome.counts().get(KvEventCount.BATCHES),
        outcome.counts().get(KvEventCount.MISSED_BATCHES),
        outcome.accounted());
  }

  private Outcome run(String[] publisher) throws IOException {
    String[] command = new String[publisher.length + 3];
    System.arraycopy(publisher, 0, command, 0, publisher.length);
    command[publisher.length] = "" + ENGINES;
    command[publisher.length + 1] = "" + batches;
    command[publisher.length + 2] = "" + highWater;
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    try (MemoryBlockIndex index = MemoryBlockIndex.withDefaults();
        KvEventSubscriber subscriber =
            KvEventSubscriber.start(
                index,
                BlockKeys.builder().algorithm(algorithm).build(),
                KvEventOptions.withDefaults())) {
      return measure(process, subscriber, index);
    } finally {
      process.destroyForcibly();
    }
  }

  private Outcome measure(Process process, KvEventSubscriber subscriber, MemoryBlockIndex index)
      throws IOException {
    BufferedReader output = process.inputReader(StandardCharsets.UTF_8);
    String[] ports = output.readLine().split(" ", -1);
    for (int i = 0; i < ports.length; i++) {
      subscriber.sourceAdded(new EventSource("pod-" + i, "tcp://127.0.0.1:" + ports[i], null));
    }
    output.readLine();
    long wall = System.nanoTime();
    long cpu = SYSTEM.getProcessCpuTime();
    send(process, "go");
    long lastChange = awaitEvents(subscriber.counts(), (long) batches * ports.length);
    double wallSeconds = (lastChange - wall) / 1e9;
    double cpuSeconds = (SYSTEM.getProcessCpuTime() - cpu) / 1e9;
    output.readLine();
    send(process, "end");
    long published = (batches + 1L) * ports.length;
    awaitEvents(subscriber.counts(), published);
    return new Outcome(published, subscriber.counts(), wallSeconds, cpuSeconds, index.size());
  }

  private static void send(Process process, String line) throws IOException {
    OutputStream out = process.getOutputStream();
    out.write((line + "\n").getBytes(StandardCharsets.UTF_8));
    out.flush();
  }

  /**
   * Waits until all events are counted, or no more arrive; returns the arrival time of the last
   * batch.
   */
  private static long awaitEvents(KvEventCounts counts, long expected) {
    long begin = System.nanoTime();
    long lastChange = begin;
    long last = 0;
    while (System.nanoTime() - begin < PATIENCE_NANOS) {
      long seen = counts.get(KvEventCount.BATCHES) + counts.get(KvEventCount.MISSED_BATCHES);
      if (seen != last) {
        last = seen;
        lastChange = System.nanoTime();
      }
      if (seen == expected || (seen > 0 && System.nanoTime() - lastChange > QUIET_NANOS)) {
        break;
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
    }
    return lastChange;
  }
}
