package io.inferspan.ebpf.stacks;

import io.inferspan.ebpf.kernel.Resources;
import io.inferspan.ebpf.libbpf.BpfObject;
import io.inferspan.ebpf.libbpf.feature.KernelFeatures;
import io.inferspan.ebpf.probe.CallPrograms;
import io.inferspan.ebpf.probe.LibraryProbes;
import io.inferspan.ebpf.probe.WatchedFunctions;
import io.inferspan.ebpf.wire.Kind;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * The CUDA functions that are observed. The callers of launches, copies, fills of memory and
 * synchronisations are counted; look-ups of functions provide the names of what is launched. The
 * programs identify a function by its row in this list.
 */
final class CudaCalls {

  private static final Set<Kind> KINDS =
      EnumSet.of(
          Kind.CUDA_LAUNCH,
          Kind.CUDA_GRAPH_LAUNCH,
          Kind.CUDA_MEMCPY_H2D,
          Kind.CUDA_MEMCPY_D2H,
          Kind.CUDA_MEMCPY_D2D,
          Kind.CUDA_MEMCPY,
          Kind.CUDA_MEMSET,
          Kind.CUDA_STREAM_SYNC,
          Kind.CUDA_EVENT_SYNC,
          Kind.CUDA_DEVICE_SYNC,
          Kind.CUDA_GET_FUNCTION);

  /** The position of the row in a cookie, {@code struct ispan_call}. */
  private static final int ROW_SHIFT = 56;

  private static final int MOST_ROWS = 256;

  private static final String RUNTIME = "libcudart";

  private final List<Row> rows = new ArrayList<>();

  /** A watched function. */
  record Row(String library, String function, long cookie) {

    /** Returns whether its launches identify a GPU function by the address of its host stub. */
    boolean namesByAddress() {
      return library.equals(RUNTIME);
    }
  }

  CudaCalls() {
    for (String line : Resources.callTable().lines().toList()) {
      String[] fields = line.split("\t", -1);
      long cookie = Long.decode(fields[2]);
      Kind kind = Kind.of((int) cookie & 0xffff);
      if (kind != null && KINDS.contains(kind) && rows.size() < MOST_ROWS) {
        rows.add(new Row(fields[0], fields[1], cookie | (long) rows.size() << ROW_SHIFT));
      }
    }
  }

  Row row(int number) {
    return rows.get(number);
  }

  /** Returns probes for these functions, with programs of an object that is not loaded yet. */
  LibraryProbes probes(BpfObject stacks) {
    StringBuilder table = new StringBuilder();
    for (Row row : rows) {
      table.append("%s\t%s\t0x%x\n".formatted(row.library(), row.function(), row.cookie()));
    }
    return new LibraryProbes(
        WatchedFunctions.of(table.toString()),
        CallPrograms.choose(stacks, KernelFeatures.probe().uprobes()));
  }
}
