package io.inferspan.response;

import java.nio.ByteBuffer;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import org.jspecify.annotations.Nullable;

/**
 * Decodes a {@code gzip} or {@code deflate} body that arrives in pieces, in constant memory.
 *
 * <p>It does not verify gzip's checksum, and reads only the first gzip member, because engines and
 * proxies write one.
 */
final class BodyDecoder implements AutoCloseable {

  /** The limit of decoded data: a few kilobytes can expand to any size. */
  static final long MAX_DECODED_BYTES = 16L << 20;

  private static final int PIECE_BYTES = 4096;
  private static final int FIXED_HEADER_BYTES = 10;
  private static final int FLAGS_AT = 3;
  private static final int HAS_CHECKSUM = 2;
  private static final int HAS_EXTRA = 4;
  private static final int HAS_NAME = 8;
  private static final int HAS_COMMENT = 16;
  private static final byte[] MAGIC = {0x1f, (byte) 0x8b, 8};

  private final boolean gzip;
  private final ByteBuffer decoded = ByteBuffer.allocate(PIECE_BYTES);
  private final Inflater inflater;
  private boolean finished;
  private int headerBytes;
  private int flags;

  /** The number of bytes of the gzip header that must still be skipped. */
  private int skip;

  /** The low byte of the extra field's length, plus 1; 0 until it is read. */
  private int lowLength;

  private BodyDecoder(boolean gzip) {
    this.gzip = gzip;
    this.inflater = new Inflater(gzip);
  }

  /** Returns the name of an encoding for spans; "other" if it is unknown, null if there is none. */
  static @Nullable String known(@Nullable CharSequence contentEncoding) {
    String name =
        contentEncoding == null ? "" : contentEncoding.toString().strip().toLowerCase(Locale.ROOT);
    return switch (name) {
      case "", "identity" -> null;
      case "gzip", "x-gzip" -> "gzip";
      case "deflate", "br", "zstd" -> name;
      default -> "other";
    };
  }

  /** Returns whether bodies with this encoding can be decoded. */
  static boolean decodes(String encoding) {
    return encoding.equals("gzip") || encoding.equals("deflate");
  }

  static BodyDecoder of(String encoding) {
    return new BodyDecoder(encoding.equals("gzip"));
  }

  /** Decodes a piece; {@code bytes} is not changed. */
  void decode(ByteBuffer bytes, Consumer<ByteBuffer> sink) throws DataFormatException {
    ByteBuffer in = bytes.asReadOnlyBuffer();
    while (gzip && in.hasRemaining() && !headerEnds()) {
      header(in.get());
    }
    inflater.setInput(in);
    while (!inflater.finished()) {
      decoded.clear();
      if (inflater.inflate(decoded) == 0) {
        break;
      }
      if (inflater.getBytesWritten() > MAX_DECODED_BYTES) {
        throw new DataFormatException("too long");
      }
      sink.accept(decoded.flip());
    }
    finished = inflater.finished();
  }

  /** Returns whether the body has been decoded completely. */
  boolean isFinished() {
    return finished;
  }

  private boolean headerEnds() {
    return headerBytes >= FIXED_HEADER_BYTES && flags == 0 && skip == 0;
  }

  private void header(byte next) throws DataFormatException {
    int at = headerBytes++;
    if (at < FIXED_HEADER_BYTES) {
      if (at < MAGIC.length && next != MAGIC[at]) {
        throw new DataFormatException("not gzip");
      }
      flags = at == FLAGS_AT ? next & (HAS_EXTRA | HAS_NAME | HAS_COMMENT | HAS_CHECKSUM) : flags;
    } else if (skip > 0) {
      skip--;
    } else if ((flags & HAS_EXTRA) != 0) {
      extra(next & 0xff);
    } else if ((flags & HAS_NAME) != 0) {
      flags ^= next == 0 ? HAS_NAME : 0;
    } else if ((flags & HAS_COMMENT) != 0) {
      flags ^= next == 0 ? HAS_COMMENT : 0;
    } else {
      flags = 0;
      skip = 1;
    }
  }

  /** Reads a byte of the extra field's length, which has two bytes, the low one first. */
  private void extra(int next) {
    if (lowLength == 0) {
      lowLength = next + 1;
    } else {
      flags ^= HAS_EXTRA;
      skip = lowLength - 1 + (next << Byte.SIZE);
    }
  }

  /** Frees the memory that the JDK holds outside the heap. */
  @Override
  public void close() {
    inflater.end();
  }
}
