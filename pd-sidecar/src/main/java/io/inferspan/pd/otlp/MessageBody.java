package io.inferspan.pd.otlp;

import io.opentelemetry.sdk.common.export.Compressor;
import io.opentelemetry.sdk.common.export.MessageWriter;
import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import java.io.OutputStream;
import org.jspecify.annotations.Nullable;

/** The bytes of a message as they go out: compressed where that is configured, framed for gRPC. */
final class MessageBody extends OutputStream {

  /** A flag for compression and the length. */
  static final int GRPC_HEADER_BYTES = 5;

  private static final int UNKNOWN_LENGTH_BYTES = 4_096;

  private final Buffer bytes;

  private MessageBody(int sizeHint) {
    bytes = Buffer.buffer(sizeHint);
  }

  /** The message alone. */
  static Buffer plain(MessageWriter message, @Nullable Compressor compressor) throws IOException {
    MessageBody body = new MessageBody(sizeHint(message, compressor));
    body.append(message, compressor);
    return body.bytes;
  }

  /** The message as the only frame of a gRPC call. */
  static Buffer grpcFrame(MessageWriter message, @Nullable Compressor compressor)
      throws IOException {
    MessageBody body = new MessageBody(GRPC_HEADER_BYTES + sizeHint(message, compressor));
    body.bytes.appendByte((byte) (compressor == null ? 0 : 1)).appendInt(0);
    body.append(message, compressor);
    return body.bytes.setInt(1, body.bytes.length() - GRPC_HEADER_BYTES);
  }

  private static int sizeHint(MessageWriter message, @Nullable Compressor compressor) {
    int length = message.getContentLength();
    return compressor == null && length >= 0 ? length : UNKNOWN_LENGTH_BYTES;
  }

  private void append(MessageWriter message, @Nullable Compressor compressor) throws IOException {
    if (compressor == null) {
      message.writeMessage(this);
      return;
    }
    try (OutputStream compressing = compressor.compress(this)) {
      message.writeMessage(compressing);
    }
  }

  @Override
  public void write(int value) {
    bytes.appendByte((byte) value);
  }

  @Override
  public void write(byte[] source, int offset, int length) {
    bytes.appendBytes(source, offset, length);
  }
}
