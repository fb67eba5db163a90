package io.inferspan.gateway.extproc.wire;

import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What Envoy tells of one part of an exchange: {@code envoy.service.ext_proc.v3.ProcessingRequest}.
 *
 * @param part the part that it tells of
 * @param headers the headers or trailers; empty for a part of a body
 * @param body a piece of a body, a view of the message; empty for headers and trailers
 * @param endOfStream whether nothing of this direction follows
 * @param subset the endpoints that may be picked, {@code host:port} each; null for all
 * @param served the endpoint that answered, {@code host:port}; null where Envoy does not tell
 * @param modes how bodies come, which Envoy tells in its first message; null where it does not
 * @param observing whether Envoy does not wait for answers, nor want any
 */
public record ProcessingRequest(
    Part part,
    HeaderList headers,
    ByteBuffer body,
    boolean endOfStream,
    @Nullable List<String> subset,
    @Nullable String served,
    @Nullable Modes modes,
    boolean observing) {

  private static final ByteBuffer NO_BYTES = ByteBuffer.allocate(0);

  /** The parts of an exchange. */
  public enum Part {
    REQUEST_HEADERS(2, 1),
    RESPONSE_HEADERS(3, 2),
    REQUEST_BODY(4, 3),
    RESPONSE_BODY(5, 4),
    REQUEST_TRAILERS(6, 5),
    RESPONSE_TRAILERS(7, 6),
    /** One that is not known here. */
    OTHER(0, 0);

    final int field;
    final int answerField;

    Part(int field, int answerField) {
      this.field = field;
      this.answerField = answerField;
    }

    /** Whether it belongs to the response. */
    public boolean isResponse() {
      return this == RESPONSE_HEADERS || this == RESPONSE_BODY || this == RESPONSE_TRAILERS;
    }
  }

  /** How Envoy shows the two bodies. */
  public record Modes(BodyMode request, BodyMode response) {}

  /** Names the part; its content stays out. */
  @Override
  public String toString() {
    return part + " of " + body.remaining() + " bytes" + (endOfStream ? ", the last" : "");
  }

  /** Reads a message; the body of what comes out is a view of it. */
  public static ProcessingRequest read(ByteBuffer message) throws MalformedMessageException {
    return new Reading().read(new ProtoReader(message));
  }

  /** What was found while a message is read. */
  private static final class Reading {
    private Part part = Part.OTHER;
    private HeaderList headers = HeaderList.EMPTY;
    private ByteBuffer body = NO_BYTES;
    private boolean endOfStream;
    private @Nullable List<String> subset;
    private @Nullable String served;
    private @Nullable Modes modes;
    private boolean observing;

    ProcessingRequest read(ProtoReader in) throws MalformedMessageException {
      while (in.next()) {
        switch (in.field()) {
          case 2 -> headers(Part.REQUEST_HEADERS, in.readMessage());
          case 3 -> headers(Part.RESPONSE_HEADERS, in.readMessage());
          case 4 -> body(Part.REQUEST_BODY, in.readMessage());
          case 5 -> body(Part.RESPONSE_BODY, in.readMessage());
          case 6 -> trailers(Part.REQUEST_TRAILERS, in.readMessage());
          case 7 -> trailers(Part.RESPONSE_TRAILERS, in.readMessage());
          case 8 -> metadata(in.readBytes());
          case 10 -> observing = in.readBoolean();
          case 11 -> modes = modes(in.readMessage());
          default -> in.skip();
        }
      }
      return new ProcessingRequest(
          part, headers, body, endOfStream, subset, served, modes, observing);
    }

    private void metadata(ByteBuffer message) throws MalformedMessageException {
      subset = SubsetHint.read(new ProtoReader(message));
      served = ServedEndpoint.read(new ProtoReader(message));
    }

    private void begin(Part found) {
      part = found;
      headers = HeaderList.EMPTY;
      body = NO_BYTES;
      endOfStream = false;
    }

    private void headers(Part found, ProtoReader in) throws MalformedMessageException {
      begin(found);
      while (in.next()) {
        switch (in.field()) {
          case 1 -> headers = HeaderList.read(in.readMessage());
          case 3 -> endOfStream = in.readBoolean();
          default -> in.skip();
        }
      }
    }

    private void body(Part found, ProtoReader in) throws MalformedMessageException {
      begin(found);
      while (in.next()) {
        switch (in.field()) {
          case 1 -> body = in.readBytes();
          case 2, 3 -> endOfStream |= in.readBoolean();
          default -> in.skip();
        }
      }
    }

    private void trailers(Part found, ProtoReader in) throws MalformedMessageException {
      begin(found);
      endOfStream = true;
      while (in.next()) {
        if (in.field() == 1) {
          headers = HeaderList.read(in.readMessage());
        } else {
          in.skip();
        }
      }
    }

    private static Modes modes(ProtoReader in) throws MalformedMessageException {
      BodyMode request = BodyMode.NONE;
      BodyMode response = BodyMode.NONE;
      while (in.next()) {
        switch (in.field()) {
          case 1 -> request = BodyMode.of(in.readNumber());
          case 2 -> response = BodyMode.of(in.readNumber());
          default -> in.skip();
        }
      }
      return new Modes(request, response);
    }
  }
}
