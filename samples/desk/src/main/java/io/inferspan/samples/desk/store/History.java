package io.inferspan.samples.desk.store;

import java.util.Arrays;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Requests over time.
 *
 * @param slices intervals of equal length, oldest first
 * @param pods the pods of all requests in the time range, regardless of the filter
 */
public record History(List<Slice> slices, List<String> pods) {

  private static final int SLICES = 60;

  /**
   * The requests that began in one interval.
   *
   * @param failed requests that failed or are incomplete; the other counts include them
   * @param disaggregated requests whose prefill ran on another pod
   * @param kvHitRatio the mean KV-cache hit ratio; NaN if no request has one
   */
  public record Slice(
      long startNanos, int requests, int failed, int disaggregated, double kvHitRatio) {}

  /**
   * Returns the history of requests. Open requests are omitted.
   *
   * @param sinceNanos the earliest start; 0 for no limit
   * @param pod the name of a pod; empty for all pods
   */
  public static History of(Stream<Sample> samples, long sinceNanos, long untilNanos, String pod) {
    List<Sample> ended =
        samples
            .filter(one -> one.startNanos() >= sinceNanos && one.startNanos() <= untilNanos)
            .filter(one -> one.status() != Status.OPEN)
            .toList();
    long from =
        sinceNanos > 0
            ? sinceNanos
            : ended.stream().mapToLong(Sample::startNanos).min().orElse(untilNanos);
    long length = (untilNanos - from) / SLICES + 1;
    Tally[] tallies = new Tally[SLICES];
    Arrays.setAll(tallies, i -> new Tally());
    SortedSet<String> pods = new TreeSet<>();
    for (Sample one : ended) {
      pods.add(one.pod());
      if (one.prefillPod() != null) {
        pods.add(one.prefillPod());
      }
      if (pod.isEmpty() || one.ranOn(pod)) {
        tallies[(int) ((one.startNanos() - from) / length)].add(one);
      }
    }
    List<Slice> slices =
        IntStream.range(0, SLICES).mapToObj(i -> tallies[i].slice(from + i * length)).toList();
    return new History(slices, List.copyOf(pods));
  }

  private static final class Tally {
    private int requests;
    private int failed;
    private int disaggregated;
    private double hits;
    private int withHits;

    void add(Sample sample) {
      requests++;
      failed += sample.status() == Status.OK ? 0 : 1;
      disaggregated += sample.route().equals("pd") ? 1 : 0;
      if (!Double.isNaN(sample.kvHitRatio())) {
        hits += sample.kvHitRatio();
        withHits++;
      }
    }

    Slice slice(long startNanos) {
      return new Slice(startNanos, requests, failed, disaggregated, hits / withHits);
    }
  }
}
