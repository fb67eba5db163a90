package io.inferspan.ebpf.spans;

import io.inferspan.ebpf.wire.KernelSum;
import io.inferspan.ebpf.wire.KernelSums;
import io.inferspan.ebpf.wire.Kind;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Kernel sums that a test sets. */
final class FakeSums implements KernelSums {

  private final Map<Long, List<KernelSum>> sums = new HashMap<>();

  /** The generation of the policy that decided last; 0 if a level did. */
  int generation = 3;

  /** Adds launches of one microsecond each, from {@code firstNanos} to {@code lastNanos}. */
  void add(long owner, long count, long dropped, long firstNanos, long lastNanos) {
    sums.computeIfAbsent(owner, any -> new ArrayList<>())
        .add(
            new KernelSum(
                Kind.CUDA_LAUNCH,
                count,
                dropped,
                1_000 * count,
                1_000,
                1_000,
                0,
                firstNanos,
                lastNanos,
                7,
                2,
                generation));
  }

  @Override
  public List<KernelSum> take(long owner) {
    List<KernelSum> taken = sums.remove(owner);
    return taken == null ? List.of() : taken;
  }

  @Override
  public Set<Long> owners() {
    return sums.keySet();
  }
}
