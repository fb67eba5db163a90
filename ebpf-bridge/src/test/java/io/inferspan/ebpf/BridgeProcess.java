package io.inferspan.ebpf;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.inferspan.OperationSpan;
import io.inferspan.Telemetry;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.ebpf.context.PublishingContextStorage;
import io.inferspan.ebpf.libbpf.KernelObjects;
import io.inferspan.ebpf.libbpf.loaded.LoadedMap;
import io.inferspan.ebpf.linux.SeccompFilter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.ContextStorage;
import io.opentelemetry.context.Scope;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;

/**
 * A program in which a bridge starts automatically. An argument, or lines on stdin, select what it
 * does.
 */
final class BridgeProcess {

  private static final int THREADS = 4;
  private static final int ROUNDS = 25;

  private BridgeProcess() {}

  public static void main(String[] arguments) throws Exception {
    if (List.of(arguments).contains("seccomp")) {
      SeccompFilter.refuseBpf();
    }
    if (List.of(arguments).contains("unattached")) {
      SeccompFilter.refuseAttaching();
    }
    if (List.of(arguments).contains("fails")) {
      failFirst();
    }
    Telemetry telemetry = Telemetry.initTracing();
    System.out.println("attached");
    if (List.of(arguments).contains("read")) {
      readUnderSpans(telemetry);
    }
    if (List.of(arguments).contains("own")) {
      System.out.println("own threads: " + ownThreads(telemetry));
    }
    if (List.of(arguments).contains("meters")) {
      SimpleMeterRegistry registry = new SimpleMeterRegistry();
      telemetry.bindTo(registry);
      System.out.println("attached: " + registry.find("inferspan.ebpf.attached").gauges().size());
    }
    if (List.of(arguments).contains("storage")) {
      System.out.println("storage: " + ContextStorage.get().getClass().getName());
    }
    if (List.of(arguments).contains("targets")) {
      System.out.println("targets: " + targets());
    }
    System.out.println("the application continues");
    if (!List.of(arguments).contains("once")) {
      System.in.read();
    }
    telemetry.close();
    System.exit(0);
  }

  /** Attaches a bridge that cannot start, after the context storage was installed. */
  private static void failFirst() {
    boolean ignored = PublishingContextStorage.install();
    EbpfBridge failed = FailedStartIT.failing(Telemetry.using(OpenTelemetry.noop()));
    if (failed.support() instanceof EbpfSupport.Unavailable none) {
      System.out.println("failed: " + none.reason());
    }
  }

  /**
   * Returns the number of threads that are registered while a sampled span is current on this one.
   */
  private static int ownThreads(Telemetry telemetry) throws IOException {
    OperationSpan span = telemetry.span(GatewaySpans.REQUEST, Context.root()).start();
    try (span;
        Scope scope = span.context().makeCurrent()) {
      return keys("own_threads", (int) ProcessHandle.current().pid(), 100).size();
    }
  }

  /** Returns the pids up to 100 in the kernel's map of observed processes. */
  private static List<Integer> targets() throws IOException {
    return keys("targets", 1, 100);
  }

  private static List<Integer> keys(String map, int from, int count) throws IOException {
    List<Integer> found = new ArrayList<>();
    for (int number : KernelObjects.of(ProcessHandle.current().pid()).maps()) {
      try (LoadedMap open = LoadedMap.open(number);
          Arena arena = Arena.ofConfined()) {
        if (open != null && open.map().name().equals(map)) {
          for (int key = from; key < from + count; key++) {
            if (open.map().get(arena.allocateFrom(JAVA_INT, key), arena.allocate(JAVA_INT))) {
              found.add(key);
            }
          }
        }
      }
    }
    return found;
  }

  /** Each thread reads a known number of times inside its span, and as often outside. */
  private static void readUnderSpans(Telemetry telemetry) throws Exception {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      int reads = 10 * (i + 1);
      threads.add(Thread.ofPlatform().start(() -> rounds(telemetry, reads)));
    }
    // The carrier of a virtual thread must not be published.
    threads.add(Thread.ofVirtual().start(() -> rounds(telemetry, 7)));
    for (Thread thread : threads) {
      thread.join();
    }
  }

  private static void rounds(Telemetry telemetry, int reads) {
    for (int round = 0; round < ROUNDS; round++) {
      OperationSpan span = telemetry.span(GatewaySpans.REQUEST, Context.root()).start();
      try (span;
          FileInputStream zeros = new FileInputStream("/dev/zero")) {
        byte[] block = new byte[64];
        try (Scope scope = span.context().makeCurrent()) {
          for (int i = 0; i < reads; i++) {
            zeros.readNBytes(block, 0, block.length);
          }
        }
        for (int i = 0; i < reads; i++) {
          zeros.readNBytes(block, 0, block.length);
        }
        System.out.println(
            (Thread.currentThread().isVirtual() ? "virtual " : "platform ")
                + reads
                + " "
                + Span.fromContext(span.context()).getSpanContext().getTraceId());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
