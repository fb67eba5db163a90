package io.inferspan.extproc.wire;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.UnsafeByteOperations;
import io.inferspan.extproc.proto.Envoy;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A message of Envoy about one part of an exchange: {@code
 * envoy.service.ext_proc.v3.ProcessingRequest}.
 *
 * @param part the part of the exchange
 * @param headers the headers or trailers; empty for a part of a body
 * @param body a piece of a body, a view of the message; empty for headers and trailers
 * @param endOfStream whether nothing of this direction follows
 * @param subset the endpoints that may be picked, {@code host:port} each; null for all
 * @param served the endpoint that answered, {@code host:port}; null if Envoy does not send it
 * @param source the client's {@code address:port}; null if Envoy does not send it
 * @param modes how bodies come, in Envoy's first message; null if it does not say
 * @param observing whether Envoy does not wait for answers, nor want any
 */
public record ProcessingRequest(
    Part part,
    HeaderList headers,
    ByteBuffer body,
    boolean endOfStream,
    @Nullable List<String> subset,
    @Nullable String served,
    @Nullable String source,
    @Nullable Modes modes,
    boolean observing) {

  private static final ByteBuffer NO_BYTES = ByteBuffer.allocate(0);

  /** The parts of an exchange. */
  public enum Part {
    REQUEST_HEADERS,
    RESPONSE_HEADERS,
    REQUEST_BODY,
    RESPONSE_BODY,
    REQUEST_TRAILERS,
    RESPONSE_TRAILERS,
    /** One that is not known here. */
    OTHER;

    /** Returns whether it belongs to the response. */
    public boolean isResponse() {
      return this == RESPONSE_HEADERS || this == RESPONSE_BODY || this == RESPONSE_TRAILERS;
    }
  }

  /** The modes in which Envoy sends the two bodies. */
  public record Modes(BodyMode request, BodyMode response) {}

  /** Names the part; its content stays out. */
  @Override
  public String toString() {
    return part + " of " + body.remaining() + " bytes" + (endOfStream ? ", the last" : "");
  }

  /** Reads a message; the body is a view of it, which must not change. */
  public static ProcessingRequest read(ByteBuffer bytes) throws MalformedMessageException {
    try {
      CodedInputStream in = UnsafeByteOperations.unsafeWrap(bytes).newCodedInput();
      in.enableAliasing(true);
      Envoy.ProcessingRequest message = Envoy.ProcessingRequest.parseFrom(in);
      in.checkLastTagWas(0);
      return of(message);
    } catch (IOException e) {
      throw new MalformedMessageException("the message is no ProcessingRequest");
    }
  }

  private static ProcessingRequest of(Envoy.ProcessingRequest message)
      throws MalformedMessageException {
    return switch (message.getRequestCase()) {
      case REQUEST_HEADERS -> headers(Part.REQUEST_HEADERS, message.getRequestHeaders(), message);
      case RESPONSE_HEADERS ->
          headers(Part.RESPONSE_HEADERS, message.getResponseHeaders(), message);
      case REQUEST_BODY -> body(Part.REQUEST_BODY, message.getRequestBody(), message);
      case RESPONSE_BODY -> body(Part.RESPONSE_BODY, message.getResponseBody(), message);
      case REQUEST_TRAILERS ->
          part(Part.REQUEST_TRAILERS, trailers(message.getRequestTrailers()), true, message);
      case RESPONSE_TRAILERS ->
          part(Part.RESPONSE_TRAILERS, trailers(message.getResponseTrailers()), true, message);
      case REQUEST_NOT_SET -> part(Part.OTHER, HeaderList.EMPTY, false, message);
    };
  }

  private static ProcessingRequest headers(
      Part part, Envoy.HttpHeaders headers, Envoy.ProcessingRequest message)
      throws MalformedMessageException {
    return part(part, HeaderList.of(headers.getHeaders()), headers.getEndOfStream(), message);
  }

  private static HeaderList trailers(Envoy.HttpTrailers trailers) throws MalformedMessageException {
    return HeaderList.of(trailers.getTrailers());
  }

  private static ProcessingRequest body(
      Part part, Envoy.HttpBody body, Envoy.ProcessingRequest message)
      throws MalformedMessageException {
    boolean last = body.getEndOfStream() || body.getEndOfStreamWithoutMessage();
    ByteBuffer bytes = body.getBody().asReadOnlyByteBuffer();
    return part(part, HeaderList.EMPTY, bytes, last, message);
  }

  private static ProcessingRequest part(
      Part part, HeaderList headers, boolean last, Envoy.ProcessingRequest message)
      throws MalformedMessageException {
    return part(part, headers, NO_BYTES, last, message);
  }

  private static ProcessingRequest part(
      Part part, HeaderList headers, ByteBuffer body, boolean last, Envoy.ProcessingRequest message)
      throws MalformedMessageException {
    return new ProcessingRequest(
        part,
        headers,
        body,
        last,
        EnvoyMetadata.subset(message),
        EnvoyMetadata.served(message),
        EnvoyMetadata.source(message),
        message.hasProtocolConfig() ? modes(message.getProtocolConfig()) : null,
        message.getObservabilityMode());
  }

  private static Modes modes(Envoy.ProtocolConfiguration config) throws MalformedMessageException {
    return new Modes(
        BodyMode.of(config.getRequestBodyMode()), BodyMode.of(config.getResponseBodyMode()));
  }
}
