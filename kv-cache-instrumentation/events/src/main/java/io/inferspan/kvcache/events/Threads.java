package io.inferspan.kvcache.events;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/** Creates named daemon threads. */
final class Threads {

  private Threads() {}

  static ThreadFactory named(String prefix) {
    AtomicInteger next = new AtomicInteger();
    return task -> daemon(task, prefix + next.incrementAndGet());
  }

  static Thread daemon(Runnable task, String name) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }
}
