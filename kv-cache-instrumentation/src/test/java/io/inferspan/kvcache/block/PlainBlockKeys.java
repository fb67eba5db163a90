package io.inferspan.kvcache.block;

import com.fasterxml.jackson.dataformat.cbor.CBORFactory;
import com.fasterxml.jackson.dataformat.cbor.CBORGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Block keys made slowly and plainly: first all bytes of a block, then their hash. */
final class PlainBlockKeys {

  private static final CBORFactory CBOR = new CBORFactory();

  private PlainBlockKeys() {}

  static List<Long> cborFnv(String seed, String model, int[] tokens, List<List<String>> extras) {
    List<Long> keys = new ArrayList<>();
    long parent = fnv(cborRoot(fnv(utf8(seed)), model));
    for (int block = 0; block < extras.size(); block++) {
      parent = fnv(cborBlock(parent, block(tokens, extras, block), extras.get(block)));
      keys.add(parent);
    }
    return keys;
  }

  static List<Long> xxh64(String seed, String model, int[] tokens, List<List<String>> extras) {
    List<Long> keys = new ArrayList<>();
    long parent = xxh64(plain(xxh64(utf8(seed)), new int[0], List.of(model)));
    for (int block = 0; block < extras.size(); block++) {
      parent = xxh64(plain(parent, block(tokens, extras, block), extras.get(block)));
      keys.add(parent);
    }
    return keys;
  }

  static byte[] cborRoot(long init, String model) {
    return array(
        init,
        cbor -> {
          cbor.writeNull();
          cbor.writeString(model);
        });
  }

  private static byte[] cborBlock(long parent, int[] tokens, List<String> extras) {
    return array(
        parent,
        cbor -> {
          cbor.writeStartArray(null, tokens.length);
          for (int token : tokens) {
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
    try {
      if (first < 0) {
        // The library has no unsigned numbers of this size; it would write a bignum.
        bytes.write(0x1b);
        bytes.writeBytes(ByteBuffer.allocate(Long.BYTES).putLong(first).array());
      } else {
        write(bytes, cbor -> cbor.writeNumber(first));
      }
      write(bytes, rest);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    return bytes.toByteArray();
  }

  private static void write(ByteArrayOutputStream bytes, Body body) throws IOException {
    try (CBORGenerator cbor = CBOR.createGenerator(bytes)) {
      body.write(cbor);
    }
  }

  private static byte[] plain(long parent, int[] tokens, List<String> extras) {
    ByteBuffer bytes = ByteBuffer.allocate(1 << 16).order(ByteOrder.LITTLE_ENDIAN).putLong(parent);
    for (int token : tokens) {
      bytes.putInt(token);
    }
    for (String extra : extras) {
      bytes.putLong(utf8(extra).length).put(utf8(extra));
    }
    byte[] all = new byte[bytes.position()];
    bytes.flip().get(all);
    return all;
  }

  private static int[] block(int[] tokens, List<List<String>> extras, int block) {
    int size = tokens.length / extras.size();
    int[] own = new int[size];
    System.arraycopy(tokens, block * size, own, 0, size);
    return own;
  }

  private static long fnv(byte[] bytes) {
    long hash = 0xcbf29ce484222325L;
    for (byte b : bytes) {
      hash ^= b & 0xff;
      hash *= 1099511628211L;
    }
    return hash;
  }

  private static long xxh64(byte[] bytes) {
    XxHash64 hash = new XxHash64();
    hash.take(bytes);
    return hash.finish();
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private interface Body {
    void write(CBORGenerator cbor) throws IOException;
  }
}
