package io.inferspan.kvcache.events;

import io.inferspan.kvcache.events.MsgpackReader.Kind;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decodes batches of events from vLLM and SGLang.
 *
 * <p>It accepts arrays and maps, hashes as numbers and as bytes, and events without trailing
 * fields. The result is never larger than a small multiple of the input. Not thread-safe.
 */
public final class KvEventDecoder {

  private final MsgpackReader in = new MsgpackReader();
  private final EventReader reader = new EventReader(in);

  /** Creates a decoder. */
  public KvEventDecoder() {}

  /**
   * Decodes a batch; returns null if the bytes are not one.
   *
   * <p>An event that cannot be read is a {@link KvEvent.Unreadable} in the batch.
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
    // The count is untrusted, so it does not determine the initial capacity.
    List<KvEvent> events = new ArrayList<>(Math.min(count, 16));
    for (int i = 0; i < count; i++) {
      events.add(event());
    }
    return events;
  }

  /** Reads an event; a well-formed event with wrong content is skipped alone. */
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
