package io.inferspan.kvcache.block;

import com.fasterxml.jackson.dataformat.cbor.CBORFactory;
import com.fasterxml.jackson.dataformat.cbor.CBORGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A simple implementation of block keys, with which tests and benchmarks compare {@link BlockKeys}:
 * it copies lists of tokens into the bytes of a block and hashes those.
 */
public final class PlainBlockKeys {

  /** The offset of the previous block's key in the hashed bytes, if the key takes eight bytes. */
  private static final int PARENT_AT = 2;

  private static final long P1 = 0x9E3779B185EBCA87L;
  private static final long P2 = 0xC2B2AE3D27D4EB4FL;
  private static final long P3 = 0x165667B19E3779F9L;
  private static final long P4 = 0x85EBCA77C2B2AE63L;
  private static final long P5 = 0x27D4EB2F165667C5L;

  private static final CBORFactory CBOR = new CBORFactory();

  private PlainBlockKeys() {}

  /** Returns the keys of as many blocks as there are extras. */
  public static List<Long> cborFnv(
      String seed, String model, List<Integer> tokens, List<List<String>> extras) {
    List<Long> keys = new ArrayList<>();
    long parent = cborParent(seed, model);
    for (int block = 0; block < extras.size(); block++) {
      parent = fnv(cborBlock(parent, block(tokens, extras, block), extras.get(block)));
      keys.add(parent);
    }
    return keys;
  }

  /** Returns the parent of the first block's key. */
  public static long cborParent(String seed, String model) {
    return fnv(cborRoot(fnv(utf8(seed)), model));
  }

  /** Returns the hashed bytes of each block, with the previous block's key left at 0. */
  public static byte[][] cborBlocks(
      String seed, String model, List<Integer> tokens, List<List<String>> extras) {
    List<Long> keys = cborFnv(seed, model, tokens, extras);
    byte[][] blocks = new byte[keys.size()][];
    long parent = cborParent(seed, model);
    for (int i = 0; i < blocks.length; i++) {
      if (parent >>> 32 == 0) {
        throw new IllegalStateException("A key has fewer than eight bytes");
      }
      blocks[i] = cborBlock(parent, block(tokens, extras, i), extras.get(i));
      ByteBuffer.wrap(blocks[i]).putLong(PARENT_AT, 0);
      parent = keys.get(i);
    }
    return blocks;
  }

  /** Computes the keys of {@link #cborBlocks}, which is only hashing. */
  public static long[] fnvAlone(long cborParent, byte[][] blocks) {
    long[] keys = new long[blocks.length];
    long parent = cborParent;
    for (int i = 0; i < blocks.length; i++) {
      ByteBuffer.wrap(blocks[i]).putLong(PARENT_AT, parent);
      parent = fnv(blocks[i]);
      keys[i] = parent;
    }
    return keys;
  }

  /** Returns the keys of as many blocks as there are extras. */
  public static List<Long> xxh64(
      String seed, String model, List<Integer> tokens, List<List<String>> extras) {
    List<Long> keys = new ArrayList<>();
    long init = xxh64(ByteBuffer.wrap(utf8(seed)));
    long parent = xxh64(plain(init, List.of(), List.of(model)));
    for (int block = 0; block < extras.size(); block++) {
      parent = xxh64(plain(parent, block(tokens, extras, block), extras.get(block)));
      keys.add(parent);
    }
    return keys;
  }

  private static List<Integer> block(List<Integer> tokens, List<List<String>> extras, int block) {
    int size = tokens.size() / extras.size();
    return tokens.subList(block * size, (block + 1) * size);
  }

  static byte[] cborRoot(long init, String model) {
    return array(
        init,
        cbor -> {
          cbor.writeNull();
          cbor.writeString(model);
        });
  }

  private static byte[] cborBlock(long parent, List<Integer> tokens, List<String> extras) {
    return array(
        parent,
        cbor -> {
          cbor.writeStartArray(null, tokens.size());
          for (Integer token : tokens) {
            cbor.writeNumber(Integer.toUnsignedLong(token));
          }
          cbor.writeEndArray();
          if (extras.isEmpty()) {
            cbor.writeNull();
          } else {
            maps(cbor, extras);
          }
        });
  }

  private static void maps(CBORGenerator cbor, List<String> extras) throws IOException {
    cbor.writeStartArray(null, extras.size());
    for (String extra : extras) {
      cbor.writeStartObject(null, 1);
      cbor.writeStringField("Hash", extra);
      cbor.writeEndObject();
    }
    cbor.writeEndArray();
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

  private interface Body {
    void write(CBORGenerator cbor) throws IOException;
  }

  private static long fnv(byte[] bytes) {
    long hash = 0xcbf29ce484222325L;
    for (byte b : bytes) {
      hash ^= b & 0xff;
      hash *= 0x100000001b3L;
    }
    return hash;
  }

  private static ByteBuffer plain(long parent, List<Integer> tokens, List<String> texts) {
    int size = Long.BYTES + tokens.size() * Integer.BYTES;
    for (String text : texts) {
      size += Long.BYTES + utf8(text).length;
    }
    ByteBuffer bytes = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN).putLong(parent);
    tokens.forEach(bytes::putInt);
    texts.forEach(text -> bytes.putLong(utf8(text).length).put(utf8(text)));
    return bytes.flip();
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static long xxh64(ByteBuffer bytes) {
    ByteBuffer in = bytes.order(ByteOrder.LITTLE_ENDIAN);
    long length = in.remaining();
    long hash = length < 32 ? P5 : stripes(in);
    hash += length;
    while (in.remaining() >= Long.BYTES) {
      hash = Long.rotateLeft(hash ^ round(0, in.getLong()), 27) * P1 + P4;
    }
    if (in.remaining() >= Integer.BYTES) {
      hash = Long.rotateLeft(hash ^ Integer.toUnsignedLong(in.getInt()) * P1, 23) * P2 + P3;
    }
    while (in.hasRemaining()) {
      hash = Long.rotateLeft(hash ^ (in.get() & 0xff) * P5, 11) * P1;
    }
    hash = (hash ^ (hash >>> 33)) * P2;
    hash = (hash ^ (hash >>> 29)) * P3;
    return hash ^ (hash >>> 32);
  }

  private static long stripes(ByteBuffer in) {
    long[] sums = {0x60EA27EEADC0B5D6L, P2, 0, 0x61C8864E7A143579L};
    while (in.remaining() >= 32) {
      for (int i = 0; i < sums.length; i++) {
        sums[i] = round(sums[i], in.getLong());
      }
    }
    long hash =
        Long.rotateLeft(sums[0], 1)
            + Long.rotateLeft(sums[1], 7)
            + Long.rotateLeft(sums[2], 12)
            + Long.rotateLeft(sums[3], 18);
    for (long sum : sums) {
      hash = (hash ^ round(0, sum)) * P1 + P4;
    }
    return hash;
  }

  private static long round(long sum, long lane) {
    return Long.rotateLeft(sum + lane * P2, 31) * P1;
  }
}
