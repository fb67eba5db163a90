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
  private static final int MOST_AT_ONCE = 256;

  private final GatewayClient client;
  private final long gapNanos;
  private final AtomicLong answered = new AtomicLong();
  private final AtomicLong failed = new AtomicLong();
  private final Semaphore room = new Semaphore(MOST_AT_ONCE);
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
      long asked = number;
      if (room.tryAcquire()) {
        threads.execute(() -> ask(asked));
      } else {
        failed.incrementAndGet();
      }
      next += gapNanos;
      LockSupport.parkNanos(next - System.nanoTime());
    }
  }

  private void ask(long number) {
    try {
      int status = client.ask(Scene.ofLoad("load-" + number, number));
      (status == 200 ? answered : failed).incrementAndGet();
    } catch (IOException e) {
      failed.incrementAndGet();
    } finally {
      room.release();
    }
  }

  /** Returns the number of responses with status 200. */
  long answered() {
    return answered.get();
  }

  /** Returns the number of failed requests. */
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
