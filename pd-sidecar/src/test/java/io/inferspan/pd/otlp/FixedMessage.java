package io.inferspan.pd.otlp;

import io.opentelemetry.sdk.common.export.MessageWriter;
import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import java.io.OutputStream;

/** A message of these bytes. */
record FixedMessage(Buffer bytes) implements MessageWriter {

  /** A message that cannot be written. */
  static final MessageWriter BROKEN =
      new MessageWriter() {
        @Override
        public void writeMessage(OutputStream output) throws IOException {
          throw new IOException("broken");
        }

        @Override
        public int getContentLength() {
          return 1;
        }
      };

  @Override
  public void writeMessage(OutputStream output) throws IOException {
    output.write(bytes.getBytes());
  }

  @Override
  public int getContentLength() {
    return bytes.length();
  }
}
