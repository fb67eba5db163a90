package io.inferspan.ebpf.flame;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Writes stacks as a trace for Perfetto and Chrome. Frames are slices whose length is their count,
 * on one track for the CPU and one for the GPU.
 *
 * <p>An arrow, whose flow id is the trace id, leads from a CPU frame to the GPU work that it
 * launched.
 */
public final class PerfettoJson {

  private static final int CPU = 1;
  private static final int GPU = 2;

  private final Appendable json;
  private final @Nullable String traceId;
  private boolean first = true;

  private PerfettoJson(Appendable json, @Nullable String traceId) {
    this.json = json;
    this.traceId = traceId;
  }

  /** Writes the trace; without a trace id there are no arrows. */
  public static void write(StackCounts counts, @Nullable String traceId, Appendable json)
      throws IOException {
    new PerfettoJson(json, traceId).write(counts);
  }

  private void write(StackCounts counts) throws IOException {
    json.append("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"unit\":")
        .append(quoted(counts.unit().word()));
    if (traceId != null) {
      json.append(",\"trace_id\":").append(quoted(traceId));
    }
    json.append("},\"traceEvents\":[");
    track(CPU, "CPU");
    track(GPU, "GPU");
    long begin = 0;
    for (var stack : counts.sorted().entrySet()) {
      stack(stack.getKey().split(";"), begin, stack.getValue());
      begin += stack.getValue();
    }
    json.append("\n]}\n");
  }

  private void track(int track, String name) throws IOException {
    event("M", track, 0)
        .append(",\"name\":\"thread_name\",\"args\":{\"name\":")
        .append(quoted(name))
        .append("}}");
  }

  private void stack(String[] frames, long begin, long length) throws IOException {
    boolean linked = false;
    for (String frame : frames) {
      boolean onGpu = frame.endsWith("_[G]") || frame.endsWith("_[g]");
      if (onGpu && !linked && traceId != null) {
        flow("s", CPU, begin).append("}");
        flow("f", GPU, begin).append(",\"bp\":\"e\"}");
        linked = true;
      }
      event("X", onGpu ? GPU : CPU, begin)
          .append(",\"dur\":")
          .append(String.valueOf(length))
          .append(",\"name\":")
          .append(quoted(frame))
          .append("}");
    }
  }

  private Appendable flow(String phase, int track, long at) throws IOException {
    return event(phase, track, at)
        .append(",\"name\":\"launch\",\"cat\":\"trace\",\"id2\":{\"global\":")
        .append(quoted("0x" + traceId))
        .append("}");
  }

  private Appendable event(String phase, int track, long at) throws IOException {
    json.append(first ? "\n" : ",\n");
    first = false;
    return json.append("{\"ph\":\"%s\",\"pid\":1,\"tid\":%d,\"ts\":%d".formatted(phase, track, at));
  }

  private static String quoted(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        quoted.append('\\').append(c);
      } else if (c < ' ') {
        quoted.append("\\u%04x".formatted((int) c));
      } else {
        quoted.append(c);
      }
    }
    return quoted.append('"').toString();
  }
}
