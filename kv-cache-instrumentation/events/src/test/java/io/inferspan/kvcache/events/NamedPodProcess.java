package io.inferspan.kvcache.events;

import io.inferspan.kvcache.Awaited;
import io.inferspan.kvcache.CapturedLog;
import io.inferspan.kvcache.block.BlockKeys;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.Security;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Follows a pod by its name, in a process whose JDK finds addresses in a file.
 *
 * <p>So the test decides when a name has one, and how long that takes: an open pipe in place of the
 * file answers when something is written to it.
 */
final class NamedPodProcess {

  private static final String HOST = "pod-0.engines.test";
  private static final String BY_NAME = HOST + ":8000";
  private static final String BY_ADDRESS = "127.0.0.1:8000";

  private final Path hosts;
  private final FakeBlockIndex index = new FakeBlockIndex();
  private final int port = LibzmqPublisher.freePort();

  private NamedPodProcess(Path hosts) {
    this.hosts = hosts;
  }

  /** Runs one of the scenarios in a separate process; returns its output and exit status. */
  static String run(String story, Path hosts) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Djdk.net.hosts.file=" + hosts,
                "-cp",
                System.getProperty("java.class.path"),
                NamedPodProcess.class.getName(),
                story,
                hosts.toString())
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    boolean ended = process.waitFor(60, TimeUnit.SECONDS);
    return said + (ended ? "exit " + process.exitValue() : "no end");
  }

  /** Runs a scenario; a failed one ends with an exception. */
  public static void main(String[] args) throws IOException {
    // Before the first look-up; the JDK's own file says 10 s, and no flag goes before that.
    Security.setProperty("networkaddress.cache.negative.ttl", "0");
    NamedPodProcess process = new NamedPodProcess(Path.of(args[1]));
    KvEventOptions options =
        KvEventOptions.builder().port(process.port).reconnect(Duration.ofMillis(100)).build();
    try (JeromqPublisher publisher = JeromqPublisher.boundTo(process.port, "kv@any@a-model");
        KvEventSubscriber subscriber =
            KvEventSubscriber.start(process.index, BlockKeys.withDefaults(), options)) {
      if (args[0].equals("later")) {
        process.later(publisher, subscriber);
      } else {
        process.slow(publisher, subscriber);
      }
    }
    System.exit(0);
  }

  private void later(JeromqPublisher publisher, KvEventSubscriber subscriber) throws IOException {
    try (CapturedLog warnings = CapturedLog.warningsOf(PendingSources.class)) {
      subscriber.podAdded(BY_NAME);
      Awaited.until("it has no address", () -> warnings.count() == 1);
    }
    Files.writeString(hosts, "127.0.0.1 " + HOST + "\n");

    publisher.subscribed().send(0, EventBytes.stored(1, null, 100));
    Awaited.until("it is followed", () -> !index.held(BY_NAME).isEmpty());
    Awaited.until("no source is pending", () -> subscriber.waiting() == 0);
  }

  private void slow(JeromqPublisher publisher, KvEventSubscriber subscriber) throws IOException {
    subscriber.podAdded(BY_NAME);
    subscriber.podAdded(BY_ADDRESS);
    publisher.subscribed().send(0, EventBytes.stored(1, null, 100));
    Awaited.until("the other is followed", () -> !index.held(BY_ADDRESS).isEmpty());
    if (subscriber.waiting() != 1) {
      throw new AssertionError("the name has been looked up without an answer");
    }

    Files.writeString(hosts, "127.0.0.1 " + HOST + "\n");
    AtomicLong next = new AtomicLong();
    Awaited.until(
        "it is followed",
        () -> {
          publisher.send(next.incrementAndGet(), EventBytes.stored(2, null, 200));
          return !index.held(BY_NAME).isEmpty();
        });
  }
}
