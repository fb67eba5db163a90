package io.inferspan.extproc;

import io.inferspan.extproc.wire.ProcessingRequest;
import io.inferspan.extproc.wire.ProcessingRequest.Part;
import io.inferspan.extproc.wire.ProcessingResponse;
import java.nio.ByteBuffer;
import java.util.List;

/** Sends a body back in pieces of the size that Envoy takes. */
final class Pieces {

  private Pieces() {}

  /** Sends one part of a body as it came. */
  static void send(Course course, ProcessingRequest message) {
    send(course, message.part(), List.of(message.body()), message.endOfStream());
  }

  /** Sends a body; where it ends with these, its last piece says so. */
  static void send(Course course, Part part, List<ByteBuffer> pieces, boolean endOfStream) {
    int last = pieces.size() - 1;
    for (int i = 0; i <= last; i++) {
      cut(course, part, pieces.get(i), endOfStream && i == last);
    }
    if (last < 0 && endOfStream) {
      course.send(ProcessingResponse.piece(part, ByteBuffer.allocate(0), true));
    }
  }

  private static void cut(Course course, Part part, ByteBuffer bytes, boolean endOfStream) {
    int at = bytes.position();
    do {
      int length = Math.min(ProcessingResponse.MAX_PIECE_BYTES, bytes.limit() - at);
      ByteBuffer piece = bytes.slice(at, length);
      at += length;
      course.send(ProcessingResponse.piece(part, piece, endOfStream && at == bytes.limit()));
    } while (at < bytes.limit());
  }
}
