package io.inferspan.kvcache.events;

import io.inferspan.kvcache.events.MsgpackReader.Kind;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads batches of events as vLLM and SGLang send them.
 *
 * <p>It takes arrays and maps, hashes as numbers and as bytes, and events whose last fields are
 * missing. What it returns is never larger than a small multiple of the bytes it was given. For one
 * thread.
 */
public final class KvEventDecoder {

  private final MsgpackReader in = new MsgpackReader();
  private final EventReader reader = new EventReader(in);

  /** A decoder. */
  public KvEventDecoder() {}

  /**
   * Reads a batch; null where the bytes are not one.
   *
   * <p>A single event that is not understood is in the batch as {@link KvEvent.Unreadable}.
   */
  public @Nullable KvEventBatch decode(byte[] payload) {
    in.reset(payload);
    try {
      KvEventBatch batch = batch();
      return in.atEnd() ? batch : null;
    } catch (MalformedException e) {
      return null;
    }
  }

  private KvEventBatch batch() throws MalformedException {
    int fields = in.array();
    if (fields < 2) {
      throw MalformedException.INSTANCE;
    }
    double epochSeconds = in.number();
    List<KvEvent> events = events(in.array());
    int rank = -1;
    if (fields > 2 && !in.nil()) {
      rank = in.uint32();
    }
    for (int i = 3; i < fields; i++) {
      in.skip();
    }
    return new KvEventBatch(epochSeconds, events, rank);
  }

  private List<KvEvent> events(int count) throws MalformedException {
    // The count is only what the bytes say, so it earns no room in advance.
    List<KvEvent> events = new ArrayList<>(Math.min(count, 16));
    for (int i = 0; i < count; i++) {
      events.add(event());
    }
    return events;
  }

  /** Reads an event; one that is well-formed but not as it should be costs only itself. */
  private KvEvent event() throws MalformedException {
    int start = in.position();
    try {
      KvEvent event = in.next() == Kind.MAP ? reader.fromMap() : reader.fromArray();
      if (!(event instanceof KvEvent.Unreadable)) {
        return event;
      }
      in.position(start);
      in.skip();
      return event;
    } catch (MalformedException e) {
      in.position(start);
      in.skip();
      return new KvEvent.Unreadable(SkipReason.MALFORMED);
    }
  }
}
