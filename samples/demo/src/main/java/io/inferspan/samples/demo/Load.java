package io.inferspan.samples.demo;

import java.io.IOException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Sends requests at a fixed rate until it is closed, even if they fail. */
final class Load implements AutoCloseable {

  /** The maximum number of open requests, which is only reached if the stack does not respond. */
  private static final int MAX_OPEN = 256;

  private final GatewayClient client;
  private final long gapNanos;
  private final AtomicLong answered = new AtomicLong();
  private final AtomicLong failed = new AtomicLong();
  private final Semaphore permits = new Semaphore(MAX_OPEN);
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final Thread pacer;
  private volatile boolean closed;

  Load(GatewayClient client, int perSecond) {
    this.client = client;
    gapNanos = TimeUnit.SECONDS.toNanos(1) / perSecond;
    pacer = Thread.ofPlatform().daemon().name("load").start(this::run);
  }

  private void run() {
    long next = System.nanoTime();
    for (long number = 1; !closed; number++) {
      long current = number;
      if (permits.tryAcquire()) {
        threads.execute(() -> send(current));
      } else {
        failed.incrementAndGet();
      }
      next += gapNanos;
      LockSupport.parkNanos(next - System.nanoTime());
    }
  }

  private void send(long number) {
    try {
      int status = client.send(Scenario.forLoad("load-" + number, number));
      (status == 200 ? answered : failed).incrementAndGet();
    } catch (IOException e) {
      failed.incrementAndGet();
    } finally {
      permits.release();
    }
  }

  /** Returns the number of responses with status 200. */
  long answered() {
    return answered.get();
  }

  /** Returns the number of requests that failed, or were not sent because too many were open. */
  long failed() {
    return failed.get();
  }

  @Override
  public void close() throws InterruptedException {
    closed = true;
    pacer.join();
    threads.shutdownNow();
  }
}
