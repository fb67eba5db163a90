package io.inferspan.pd.stage;

import io.inferspan.pd.json.JsonEdit;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

/**
 * A request body for one stage, written when the connection stands, and again where it is tried
 * again.
 */
public interface StageBody {

  /** How many bytes {@link #writeTo} writes. */
  int length();

  void writeTo(ByteBuf out);

  /** A copy of the bytes. */
  default byte[] toBytes() {
    byte[] bytes = new byte[length()];
    writeTo(Unpooled.wrappedBuffer(bytes).clear());
    return bytes;
  }

  /** The client's body with some members changed. */
  static StageBody of(JsonEdit edit) {
    return new StageBody() {
      @Override
      public int length() {
        return edit.length();
      }

      @Override
      public void writeTo(ByteBuf out) {
        edit.writeTo(out);
      }
    };
  }

  /** The first {@code length} of some bytes, as they are. */
  static StageBody of(byte[] bytes, int length) {
    return new StageBody() {
      @Override
      public int length() {
        return length;
      }

      @Override
      public void writeTo(ByteBuf out) {
        out.writeBytes(bytes, 0, length);
      }
    };
  }
}
