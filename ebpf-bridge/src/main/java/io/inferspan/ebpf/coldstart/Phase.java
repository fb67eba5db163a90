package io.inferspan.ebpf.coldstart;

import static io.inferspan.ebpf.wire.Kind.SYSCALL_CLOSE;
import static io.inferspan.ebpf.wire.Kind.SYSCALL_MMAP;

import io.inferspan.ebpf.coldstart.Observation.Event;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The phases of a model server's start, and the calls and waits that are evidence of each. */
enum Phase {
  /** A program starts, and opens its shared libraries before any import. */
  PROCESS_START,
  /** Files of Python or the JVM are opened, and shared libraries after the first of them. */
  IMPORTS,
  /** Weight files are opened, read or mapped, or data is copied to the device. */
  WEIGHTS,
  /** A thread of a process that has mapped weight files waits for a page from the disk. */
  PAGE_FAULTS,
  /** The driver is initialised, or a device is opened. */
  DEVICE_INIT,
  /** Modules are loaded, or their functions are looked up. */
  MODULE_LOAD,
  /** Device memory is allocated or mapped, or host memory is pinned. */
  ALLOCATION,
  /** Communicators are created. */
  NCCL_INIT,
  /** CUDA kernels, CUDA graphs and collectives are launched or waited for. */
  WARM_UP,
  /** CUDA graphs are captured or instantiated. */
  GRAPH_CAPTURE;

  private static final Pattern LIBRARY = Pattern.compile(".*(\\.so(\\.[0-9.]+)?|/ld\\.so\\.cache)");
  private static final Pattern IMPORT =
      Pattern.compile(".*\\.(py|pyc|jar|class)|.*/(site|dist)-packages/[^/]*\\.pth");
  private static final Pattern WEIGHT =
      Pattern.compile(".*\\.(safetensors|gguf|bin|pt|pth|onnx|ckpt)|.*/(snapshots|blobs)/.*");
  private static final Pattern DEVICE = Pattern.compile("/dev/nvidia.*");
  private static final int UNINTERRUPTIBLE = 2;

  /** Returns the last part of the span's name. */
  String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** A call or a wait that belongs to a phase. */
  record Evidence(Phase phase, long startNanos, long endNanos) {}

  /** Returns the evidence in events that are sorted by start. */
  static List<Evidence> evidence(List<Event> events) {
    Tracker tracker = new Tracker();
    List<Evidence> evidence = new ArrayList<>();
    for (Event event : events) {
      Phase phase = tracker.phase(event);
      if (phase != null) {
        evidence.add(new Evidence(phase, event.startNanos(), event.endNanos()));
      }
    }
    return evidence;
  }

  /**
   * Tracks which descriptors are weight files, and which processes import or have mapped weights.
   */
  private static final class Tracker {

    private record File(int pid, int fd) {}

    private final Set<File> weights = new HashSet<>();
    private final Set<Integer> importing = new HashSet<>();
    private final Set<Integer> mapping = new HashSet<>();

    @Nullable Phase phase(Event event) {
      return switch (event.kind()) {
        case PROCESS_STARTED -> begun(event);
        case SYSCALL_OPENAT -> event.result() < 0 ? null : opened(event);
        case SYSCALL_READ, SYSCALL_MMAP, SYSCALL_CLOSE -> ofWeights(event);
        case SCHED_OFFCPU -> isPageFault(event) ? PAGE_FAULTS : null;
        case CUDA_INIT -> DEVICE_INIT;
        case CUDA_MODULE_LOAD, CUDA_GET_FUNCTION -> MODULE_LOAD;
        case CUDA_ALLOC, CUDA_MEM_CREATE, CUDA_MEM_MAP, CUDA_HOST_ALLOC, CUDA_HOST_REGISTER ->
            ALLOCATION;
        case CUDA_MEMCPY_H2D -> WEIGHTS;
        case NCCL_COMM_INIT -> NCCL_INIT;
        case CUDA_CAPTURE_BEGIN, CUDA_CAPTURE_END, CUDA_GRAPH_INSTANTIATE -> GRAPH_CAPTURE;
        case CUDA_LAUNCH, CUDA_GRAPH_LAUNCH, CUDA_STREAM_SYNC, CUDA_EVENT_SYNC, CUDA_DEVICE_SYNC ->
            WARM_UP;
        case NCCL_ALL_REDUCE, NCCL_ALL_GATHER, NCCL_REDUCE_SCATTER, NCCL_BROADCAST, NCCL_REDUCE ->
            WARM_UP;
        default -> null;
      };
    }

    private Phase begun(Event event) {
      importing.remove(event.pid());
      mapping.remove(event.pid());
      return PROCESS_START;
    }

    private @Nullable Phase opened(Event event) {
      String path = event.text();
      File file = new File(event.pid(), event.result());
      weights.remove(file);
      if (IMPORT.matcher(path).matches()) {
        importing.add(event.pid());
        return IMPORTS;
      }
      if (LIBRARY.matcher(path).matches()) {
        return importing.contains(event.pid()) ? IMPORTS : PROCESS_START;
      }
      if (WEIGHT.matcher(path).matches()) {
        weights.add(file);
        return WEIGHTS;
      }
      return DEVICE.matcher(path).matches() ? DEVICE_INIT : null;
    }

    private @Nullable Phase ofWeights(Event event) {
      File file = new File(event.pid(), event.fd());
      boolean known = event.kind() == SYSCALL_CLOSE ? weights.remove(file) : weights.contains(file);
      if (known && event.kind() == SYSCALL_MMAP) {
        mapping.add(event.pid());
      }
      return known ? WEIGHTS : null;
    }

    /** Returns whether the event is a wait for a disk outside of any system call. */
    private boolean isPageFault(Event event) {
      return (event.detail() & UNINTERRUPTIBLE) != 0 // a bit: the state is often TASK_KILLABLE
          && event.extra() == 0
          && mapping.contains(event.pid());
    }
  }
}
