package io.inferspan.ebpf.wire;

import java.util.List;
import java.util.Set;

/** Sums of calls that capture policies left in the kernel. For one thread. */
public interface KernelSums {

  /** No policy ever leaves anything. */
  KernelSums NONE =
      new KernelSums() {
        @Override
        public List<KernelSum> take(long owner) {
          return List.of();
        }

        @Override
        public Set<Long> owners() {
          return Set.of();
        }
      };

  /** Returns what was added for this owner since this was called last. */
  List<KernelSum> take(long owner);

  /** Returns the owners for which something was added that was not taken yet. */
  Set<Long> owners();
}
