package io.inferspan.ebpf.batch;

import io.inferspan.ebpf.wire.EventView;
import io.inferspan.ebpf.wire.Kind;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * Handles records about the ZeroMQ messages of engines without a plugin, which arrive in frames:
 * the requests that they receive and the outputs that they send.
 */
final class FramedEngines {

  private static final Logger LOGGER = System.getLogger("io.inferspan.ebpf");
  private static final int MAX_ENGINES = 256;

  // Flags in the upper half of the detail of STEP_CHANGES: ISPAN_OUTPUT_* in wire.h.
  private static final int LAST = 1;
  private static final int ABORTED = 2;
  private static final int BROKEN = 4;

  private final Batches batches;
  private final BiFunction<EventView, String, @Nullable RequestHead> heads;

  /** Engines by owner number, which the BPF programs assign to an engine and its calls. */
  private final Map<Long, FramedEngine> engines = new HashMap<>();

  /**
   * Creates a handler; {@code heads} finds a sampled request by an event's process and the request
   * id.
   */
  FramedEngines(Batches batches, BiFunction<EventView, String, @Nullable RequestHead> heads) {
    this.batches = batches;
    this.heads = heads;
  }

  /** Handles a request that an engine received. */
  void added(EventView event) {
    FramedEngine engine = engines.get(event.owner());
    if (engine == null) {
      if (engines.size() >= MAX_ENGINES) {
        return;
      }
      engine = new FramedEngine(event.tgid(), batches);
      engines.put(event.owner(), engine);
    }
    long fields = event.detail();
    if (!FrameLayouts.isRequest(fields)
        || (engine.requestFields != 0 && engine.requestFields != fields)) {
      refuse(engine, "requests with " + fields + " fields", event.endNanos());
    }
    engine.requestFields = fields;
    String id = event.requestId();
    List<String> clientIds = FrameLayouts.clientIds(id, fields);
    if (engine.refused || id.isEmpty() || clientIds.isEmpty()) {
      return;
    }
    RequestHead head = null;
    for (String clientId : clientIds) {
      RequestHead found = heads.apply(event, clientId);
      head = head == null ? found : head;
    }
    engine.add((int) event.amount(), id, clientIds.get(0), head, event.endNanos());
  }

  void outputs(EventView event) {
    FramedEngine engine = engines.get(event.owner());
    int flags = (int) (event.detail() >>> 32);
    long fields = event.detail() & 0xffff_ffffL;
    if (engine == null || engine.refused) {
      return;
    }
    if ((flags & ABORTED) != 0) {
      engine.abort(event.change(0), event.endNanos());
      return;
    }
    boolean last = (flags & LAST) != 0;
    long held = last ? event.amount() % event.changes() : event.changes();
    long[] words = new long[(int) held];
    for (int i = 0; i < held; i++) {
      words[i] = event.change(i);
    }
    if (held > 0 && (flags & BROKEN) == 0 && !FrameLayouts.fits(engine.requestFields, fields)) {
      refuse(engine, "outputs with " + fields + " fields", event.endNanos());
      return;
    }
    if ((flags & BROKEN) != 0) {
      engine.breakOff();
    } else if (held > 0) {
      engine.change(words, last ? event.amount() - held : event.amount());
    }
    if (last) {
      long at = (long) (Double.longBitsToDouble(event.extra()) * 1e9);
      engine.outputs(event.amount(), at, event.startNanos(), event.endNanos());
    }
  }

  private void refuse(FramedEngine engine, String what, long nanos) {
    if (!engine.refused) {
      engine.refused = true;
      engine.close(true, nanos);
      batches.counters().increment(BatchCounters.Count.REFUSED_ENGINES);
      LOGGER.log(
          Level.WARNING,
          "Process {0} looks like vLLM, but no known release has {1}: its requests get no"
              + " llm_d.engine spans. Load the plugin bpf/ckp/inferspan_vllm.py into it",
          String.valueOf(engine.pid),
          what);
    }
  }

  /** Stops using the messages of a process because a plugin reports its steps. */
  void supersede(int pid, int parent, long nanos) {
    if (!engines.isEmpty()) {
      close(pid, true, nanos);
      close(parent, true, nanos);
    }
  }

  void close(int pid, boolean superseded, long nanos) {
    engines
        .values()
        .removeIf(
            engine -> {
              if (engine.pid == pid) {
                engine.close(superseded, nanos);
              }
              return engine.pid == pid;
            });
  }

  private static void call(FramedEngine engine, Kind kind, EventView event) {
    boolean launch = kind == Kind.CUDA_LAUNCH || kind == Kind.CUDA_GRAPH_LAUNCH;
    if (event.tgid() != engine.pid) {
      if (launch) {
        engine.launchedElsewhere();
      }
    } else if (launch) {
      engine.launched(event.detail(), event.startNanos());
    } else if (event.result() == 0) {
      switch (kind) {
        case CUDA_EVENT_RECORD -> engine.recorded(event.extra());
        case CUDA_EVENT_SYNC, CUDA_EVENT_QUERY ->
            engine.eventReached(event.detail(), event.endNanos());
        case CUDA_STREAM_SYNC, CUDA_STREAM_QUERY ->
            engine.allDone(event.detail(), event.endNanos());
        case CUDA_DEVICE_SYNC -> engine.allDone(-1, event.endNanos());
        default -> {}
      }
    }
  }

  /** Handles a call; returns false if it does not belong to an engine without a plugin. */
  boolean call(Kind kind, EventView event) {
    FramedEngine engine = engines.isEmpty() ? null : engines.get(event.owner());
    if (engine != null) {
      call(engine, kind, event);
    }
    return engine != null;
  }

  /** Ends all requests of all engines. */
  void close(long nanos) {
    engines.values().forEach(engine -> engine.close(false, nanos));
    engines.clear();
  }
}
