package io.inferspan.ebpf.wire;

import java.util.List;
import java.util.Set;

/** Sums of calls that capture policies left in the kernel. For one thread. */
public interface KernelSums {

  /** The sums of a bridge without policies: none. */
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

  /** Returns the sums that were added for this owner since the last call. */
  List<KernelSum> take(long owner);

  /** Returns the owners with sums that were not taken yet. */
  Set<Long> owners();
}
