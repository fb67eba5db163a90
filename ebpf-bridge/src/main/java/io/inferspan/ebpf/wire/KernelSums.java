package io.inferspan.ebpf.wire;

import java.util.List;
import java.util.Set;

/** Reads the sums of events that were folded or dropped in the kernel. Not thread-safe. */
public interface KernelSums {

  /** Returns no sums. */
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

  /** Returns what was added to the sums of an owner since the previous call. */
  List<KernelSum> take(long owner);

  /** Returns the owners whose sums have changed since they were read. */
  Set<Long> owners();
}
