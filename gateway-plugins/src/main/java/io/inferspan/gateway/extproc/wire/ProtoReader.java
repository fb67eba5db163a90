package io.inferspan.gateway.extproc.wire;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Reads the fields of one message of Protocol Buffers, in the order in which they come.
 *
 * <p>Nothing is copied but text; bytes and inner messages are views. It never reads beyond its
 * message, whatever a length in it claims.
 */
final class ProtoReader {

  private static final int VARINT = 0;
  private static final int FIXED64 = 1;
  private static final int LENGTH = 2;
  private static final int FIXED32 = 5;
  private static final int MAX_VARINT_BYTES = 10;

  private final ByteBuffer in;
  private int field;
  private int wireType;

  ProtoReader(ByteBuffer message) {
    this.in = message.slice();
  }

  /** Goes to the next field; false where the message ends. */
  boolean next() throws MalformedMessageException {
    if (!in.hasRemaining()) {
      return false;
    }
    long tag = varint();
    field = (int) (tag >>> 3);
    wireType = (int) (tag & 7);
    if (tag < 0 || tag > 0xffff_ffffL || field == 0) {
      throw new MalformedMessageException("a field has no valid number");
    }
    return true;
  }

  /** The number of the field that the reader is at. */
  int field() {
    return field;
  }

  /** The value of a boolean. */
  boolean readBoolean() throws MalformedMessageException {
    return readNumber() != 0;
  }

  /** The value of an enum or an integer. */
  long readNumber() throws MalformedMessageException {
    expect(VARINT);
    return varint();
  }

  /** The bytes of a field, as a view. */
  ByteBuffer readBytes() throws MalformedMessageException {
    expect(LENGTH);
    return take();
  }

  /** The text of a field; what is no UTF-8 in it is replaced. */
  String readText() throws MalformedMessageException {
    return text(readBytes());
  }

  /** The inner message of a field. */
  ProtoReader readMessage() throws MalformedMessageException {
    return new ProtoReader(readBytes());
  }

  /** Passes over a field. */
  void skip() throws MalformedMessageException {
    switch (wireType) {
      case VARINT -> varint();
      case LENGTH -> take();
      case FIXED64 -> skip(Long.BYTES);
      case FIXED32 -> skip(Integer.BYTES);
      default -> throw new MalformedMessageException("a field has the unknown type " + wireType);
    }
  }

  static String text(ByteBuffer bytes) {
    return StandardCharsets.UTF_8.decode(bytes).toString();
  }

  private void expect(int type) throws MalformedMessageException {
    if (wireType != type) {
      throw new MalformedMessageException(
          "field " + field + " is of type " + wireType + ", not " + type);
    }
  }

  private ByteBuffer take() throws MalformedMessageException {
    long length = varint();
    if (length < 0 || length > in.remaining()) {
      throw new MalformedMessageException("field " + field + " is longer than its message");
    }
    ByteBuffer view = in.slice(in.position(), (int) length);
    in.position(in.position() + (int) length);
    return view;
  }

  private void skip(int bytes) throws MalformedMessageException {
    if (bytes > in.remaining()) {
      throw new MalformedMessageException("field " + field + " is cut off");
    }
    in.position(in.position() + bytes);
  }

  private long varint() throws MalformedMessageException {
    long value = 0;
    for (int i = 0; i < MAX_VARINT_BYTES; i++) {
      if (!in.hasRemaining()) {
        throw new MalformedMessageException("a number is cut off");
      }
      byte next = in.get();
      value |= (long) (next & 0x7f) << (7 * i);
      if (next >= 0) {
        return value;
      }
    }
    throw new MalformedMessageException("a number is longer than ten bytes");
  }
}
