package io.inferspan.samples.demo.engine;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;

/**
 * Encodes batches of KV events in vLLM's format: msgpack arrays {@code [time, [event, …], rank]}.
 */
final class KvEvents {

  private static final String MEDIUM = "GPU";

  private KvEvents() {}

  /**
   * Encodes a change of the cache. The first block of a prompt has no parent.
   *
   * @param hashes all blocks of the prompt
   * @param tokens all tokens of the prompt
   */
  static byte[] batch(PrefixCache.Change change, long[] hashes, int[] tokens) {
    boolean stored = change.firstStored() < hashes.length;
    boolean removed = !change.evicted().isEmpty();
    try (MessageBufferPacker out = MessagePack.newDefaultBufferPacker()) {
      out.packArrayHeader(3);
      out.packDouble(System.currentTimeMillis() / 1e3);
      out.packArrayHeader((stored ? 1 : 0) + (removed ? 1 : 0));
      if (stored) {
        stored(out, change.firstStored(), hashes, tokens);
      }
      if (removed) {
        removed(out, change.evicted());
      }
      out.packInt(0);
      return out.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Writes {@code ["BlockStored", hashes, parent, tokens, block size, LoRA id, medium]}. */
  private static void stored(MessageBufferPacker out, int first, long[] hashes, int[] tokens)
      throws IOException {
    out.packArrayHeader(7).packString("BlockStored");
    out.packArrayHeader(hashes.length - first);
    for (int i = first; i < hashes.length; i++) {
      out.packLong(hashes[i]);
    }
    if (first == 0) {
      out.packNil();
    } else {
      out.packLong(hashes[first - 1]);
    }
    int from = first * PrefixCache.BLOCK_TOKENS;
    int to = hashes.length * PrefixCache.BLOCK_TOKENS;
    out.packArrayHeader(to - from);
    for (int i = from; i < to; i++) {
      out.packInt(tokens[i]);
    }
    out.packInt(PrefixCache.BLOCK_TOKENS).packNil().packString(MEDIUM);
  }

  /** Writes {@code ["BlockRemoved", hashes, medium]}. */
  private static void removed(MessageBufferPacker out, List<Long> hashes) throws IOException {
    out.packArrayHeader(3).packString("BlockRemoved").packArrayHeader(hashes.size());
    for (long hash : hashes) {
      out.packLong(hash);
    }
    out.packString(MEDIUM);
  }
}
