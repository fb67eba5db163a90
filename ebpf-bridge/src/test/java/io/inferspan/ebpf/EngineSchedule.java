package io.inferspan.ebpf;

import io.inferspan.ebpf.EngineRun.Load;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** A load, and the options of an engine for it. */
record EngineSchedule(Load load, boolean isAsync, int ranks, List<String> options) {

  /** The releases whose layouts the second engine has. */
  private static final List<String> PLAIN_RELEASES =
      List.of(
          "0.8.5", "0.9.0", "0.9.1", "0.9.2", "0.10.2", "0.11.0", "0.11.2", "0.14.0", "0.16.0",
          "0.19.1", "0.23.0");

  private static final int FIRST_ASYNCHRONOUS_PLAIN = 4;

  /** Returns whether worker processes have titles, as from release 0.10.1 on. */
  boolean hasTitles() {
    return options.stream().noneMatch(one -> one.matches("--release=0\\.[89]\\..*"));
  }

  /**
   * Returns one of several random schedules that have {@code wanted} requests in total, {@code
   * served} of them in earlier schedules.
   */
  static EngineSchedule random(
      Random random, List<String> releases, int firstAsync, int wanted, int served) {
    int release = random.nextInt(releases.size());
    boolean async = release >= firstAsync && random.nextBoolean();
    int ranks = 1 + random.nextInt(2);
    int concurrent = 1 << random.nextInt(9);
    int requests = Math.min(wanted - served, Math.max(wanted / 20, 40 + 2 * concurrent));
    List<String> options = new ArrayList<>();
    options.add("--release=" + releases.get(release));
    options.add("--tp=" + ranks);
    options.add("--set=preempt=" + (random.nextBoolean() ? 0.05 : 0));
    options.add("--set=seed=" + random.nextInt(1_000));
    options.add("--set=most=" + (random.nextBoolean() ? 64 : 256));
    if (random.nextBoolean()) {
      options.addAll(together(Math.min(concurrent, requests)));
    }
    if (!async) {
      options.add("--sync");
    }
    double aborts = random.nextBoolean() ? 0.2 : 0;
    int oneUnsampledOf = 1 + random.nextInt(3);
    Load load = new Load(requests, concurrent, oneUnsampledOf, aborts, random.nextLong());
    return new EngineSchedule(load, async, ranks, options);
  }

  /**
   * Returns schedules of the second engine, one layout after the other, with {@code wanted}
   * requests in total.
   */
  static List<EngineSchedule> plain(int wanted, long seed) {
    Random random = new Random(seed);
    List<EngineSchedule> schedules = new ArrayList<>();
    for (int served = 0; served < wanted; served = served(schedules)) {
      int release = (schedules.size() + 6) % PLAIN_RELEASES.size();
      boolean async = release >= FIRST_ASYNCHRONOUS_PLAIN && random.nextBoolean();
      int concurrent = 1 << random.nextInt(9);
      int requests = Math.min(wanted - served, 100 + 4 * concurrent);
      double aborts = random.nextBoolean() ? 0.2 : 0;
      int oneUnsampledOf = random.nextBoolean() ? 3 : 1;
      Load load = new Load(requests, concurrent, oneUnsampledOf, aborts, random.nextLong());
      List<String> options = new ArrayList<>();
      options.addAll(List.of(EngineRun.PLAIN, "--release=" + PLAIN_RELEASES.get(release)));
      int ranks = 1 + random.nextInt(2);
      options.add("--tp=" + ranks);
      options.add("--in-flight=" + (async ? 2 : 1));
      options.add("--budget=" + (256 << random.nextInt(6)));
      options.add("--preempt=" + (random.nextBoolean() ? 0.05 : 0));
      options.add("--seed=" + random.nextInt(1_000));
      schedules.add(new EngineSchedule(load, async, ranks, options));
    }
    return schedules;
  }

  private static int served(List<EngineSchedule> schedules) {
    return schedules.stream().mapToInt(one -> one.load.requests()).sum();
  }

  /** Returns a schedule whose first step has the maximum number of requests, 256. */
  static EngineSchedule crowd(String release) {
    List<String> options = new ArrayList<>(together(256));
    options.addAll(List.of("--release=" + release, "--set=most=256", "--sync"));
    return new EngineSchedule(new Load(280, 256, 1, 0, 7), false, 1, options);
  }

  private static List<String> together(int requests) {
    return List.of("--set=budget=131072", "--set=gather=" + requests);
  }
}
