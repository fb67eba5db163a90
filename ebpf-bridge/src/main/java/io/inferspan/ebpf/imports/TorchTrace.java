package io.inferspan.ebpf.imports;

import com.fasterxml.jackson.core.JsonToken;
import io.inferspan.ebpf.flame.StackCounts;
import io.inferspan.ebpf.flame.Unit;
import java.io.IOException;
import java.io.Reader;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Converts a trace of the PyTorch profiler to stacks: the time of GPU work below the frames that
 * launched it.
 *
 * <p>A trace has slices, which nest on each thread, and GPU work with the correlation id of its
 * launch. The CPU time of slices is left out, because it overlaps with the GPU's time.
 */
final class TorchTrace {

  private static final Set<String> ON_GPU = Set.of("kernel", "gpu_memcpy", "gpu_memset");
  private static final Set<String> LAUNCHES = Set.of("cuda_runtime", "cuda_driver");
  private static final double NANOS_PER_MICRO = 1000;

  private final List<Slice> slices = new ArrayList<>();
  private final List<Slice> onGpu = new ArrayList<>();

  private TorchTrace() {}

  /**
   * A slice with its times in microseconds. A launch and its GPU work have the same correlation id;
   * 0 means none.
   */
  private record Slice(
      String thread, String category, String name, double begin, double end, long correlation) {}

  static StackCounts read(Reader text) throws IOException {
    TorchTrace trace = new TorchTrace();
    trace.readEvents(new JsonText(text));
    return trace.stacks();
  }

  private void readEvents(JsonText json) throws IOException {
    JsonToken first = json.next();
    if (first == JsonToken.START_ARRAY) {
      events(json);
      return;
    }
    boolean found = false;
    while (json.next() == JsonToken.FIELD_NAME) {
      boolean wanted = json.name().equals("traceEvents");
      JsonToken value = json.next();
      if (wanted && value == JsonToken.START_ARRAY) {
        events(json);
        found = true;
      } else {
        json.skip();
      }
    }
    if (!found) {
      throw json.expected("a list \"traceEvents\"");
    }
  }

  private void events(JsonText json) throws IOException {
    while (json.next() != JsonToken.END_ARRAY) {
      Map<String, Object> event = json.object();
      if ("X".equals(event.get("ph")) && event.get("ts") instanceof Number begin) {
        if (!(event.get("dur") instanceof Number length)) {
          throw json.expected("a number \"dur\" in this event, because its \"ph\" is \"X\"");
        }
        Slice slice =
            new Slice(
                event.get("pid") + "/" + event.get("tid"),
                String.valueOf(event.get("cat")),
                String.valueOf(event.get("name")),
                begin.doubleValue(),
                begin.doubleValue() + length.doubleValue(),
                correlation(event));
        (ON_GPU.contains(slice.category()) ? onGpu : slices).add(slice);
      }
    }
  }

  private static long correlation(Map<String, Object> event) {
    return event.get("args") instanceof Map<?, ?> args
            && args.get("correlation") instanceof Number number
        ? number.longValue()
        : 0;
  }

  private StackCounts stacks() {
    Map<Long, List<String>> launches = launches();
    StackCounts counts = new StackCounts(Unit.NANOS);
    for (Slice kernel : onGpu) {
      @Nullable List<String> launch = launches.get(kernel.correlation());
      List<String> stack =
          new ArrayList<>(launch == null ? List.of("[launch not in the trace]") : launch);
      stack.add("-");
      stack.add(kernel.name() + "_[G]");
      counts.add(stack, Math.round((kernel.end() - kernel.begin()) * NANOS_PER_MICRO));
    }
    return counts;
  }

  /** Returns the stack of each launch, by correlation id. */
  private Map<Long, List<String>> launches() {
    slices.sort(
        Comparator.comparing(Slice::thread)
            .thenComparingDouble(Slice::begin)
            .thenComparing(Comparator.comparingDouble(Slice::end).reversed()));
    Map<Long, List<String>> launches = new HashMap<>();
    Deque<Slice> open = new ArrayDeque<>();
    String thread = "";
    for (Slice slice : slices) {
      if (!slice.thread().equals(thread)) {
        open.clear();
        thread = slice.thread();
      }
      while (!open.isEmpty() && open.getLast().end() <= slice.begin()) {
        open.removeLast();
      }
      open.addLast(slice);
      if (slice.correlation() != 0 && LAUNCHES.contains(slice.category())) {
        launches.put(slice.correlation(), open.stream().map(Slice::name).toList());
      }
    }
    return launches;
  }
}
