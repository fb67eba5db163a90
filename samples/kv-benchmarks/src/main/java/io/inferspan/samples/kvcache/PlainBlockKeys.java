package io.inferspan.samples.kvcache;

import com.fasterxml.jackson.dataformat.cbor.CBORFactory;
import com.fasterxml.jackson.dataformat.cbor.CBORGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * A simple implementation of {@code cbor-fnv} keys, for comparison: it encodes lists of tokens with
 * a CBOR library and hashes the bytes.
 */
final class PlainBlockKeys {

  private static final int BLOCK = 16;

  /** The offset of the previous block's key in the hashed bytes, if the key takes eight bytes. */
  private static final int PARENT_AT = 2;

  private static final CBORFactory CBOR = new CBORFactory();

  private PlainBlockKeys() {}

  static List<Long> of(String model, List<Integer> tokens) {
    List<Long> keys = new ArrayList<>();
    long parent = before(model);
    for (int from = 0; from + BLOCK <= tokens.size(); from += BLOCK) {
      parent = fnv(block(parent, tokens.subList(from, from + BLOCK)));
      keys.add(parent);
    }
    return keys;
  }

  /** Returns the parent of the first block's key. */
  static long before(String model) {
    return fnv(root(fnv(new byte[0]), model));
  }

  /** Returns the hashed bytes of each block, with the previous block's key left at 0. */
  static byte[][] encoded(String model, List<Integer> tokens) {
    List<Long> keys = of(model, tokens);
    byte[][] blocks = new byte[keys.size()][];
    long parent = before(model);
    for (int i = 0; i < blocks.length; i++) {
      if (parent >>> 32 == 0) {
        throw new IllegalStateException("A key has fewer than eight bytes");
      }
      blocks[i] = block(parent, tokens.subList(i * BLOCK, (i + 1) * BLOCK));
      ByteBuffer.wrap(blocks[i]).putLong(PARENT_AT, 0);
      parent = keys.get(i);
    }
    return blocks;
  }

  /** Computes the keys of encoded blocks, which is only hashing. */
  static long[] hashed(long before, byte[][] blocks) {
    long[] keys = new long[blocks.length];
    long parent = before;
    for (int i = 0; i < blocks.length; i++) {
      ByteBuffer.wrap(blocks[i]).putLong(PARENT_AT, parent);
      parent = fnv(blocks[i]);
      keys[i] = parent;
    }
    return keys;
  }

  private static byte[] root(long init, String model) {
    return array(
        init,
        cbor -> {
          cbor.writeNull();
          cbor.writeString(model);
        });
  }

  private static byte[] block(long parent, List<Integer> tokens) {
    return array(
        parent,
        cbor -> {
          cbor.writeStartArray(null, tokens.size());
          for (Integer token : tokens) {
            cbor.writeNumber(Integer.toUnsignedLong(token));
          }
          cbor.writeEndArray();
          cbor.writeNull();
        });
  }

  private static byte[] array(long first, Body rest) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    bytes.write(0x83);
    try (CBORGenerator cbor = CBOR.createGenerator(bytes)) {
      if (first < 0) {
        // For unsigned numbers of this size, the library would write a bignum.
        bytes.write(0x1b);
        bytes.writeBytes(ByteBuffer.allocate(Long.BYTES).putLong(first).array());
      } else {
        cbor.writeNumber(first);
      }
      rest.write(cbor);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  private static long fnv(byte[] bytes) {
    long hash = 0xcbf29ce484222325L;
    for (byte b : bytes) {
      hash ^= b & 0xff;
      hash *= 0x100000001b3L;
    }
    return hash;
  }

  private interface Body {
    void write(CBORGenerator cbor) throws IOException;
  }
}
