package io.inferspan.extproc.wire;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.Struct;
import com.google.protobuf.UnsafeByteOperations;
import com.google.protobuf.Value;
import io.inferspan.extproc.proto.Envoy;
import io.inferspan.extproc.proto.Envoy.BodyMode;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A message from Envoy about one part of an exchange: {@code
 * envoy.service.ext_proc.v3.ProcessingRequest}.
 *
 * @param part the part of the exchange
 * @param headers the headers or trailers; empty for a part of a body
 * @param body a piece of a body, a view of the message; empty for headers and trailers
 * @param endOfStream whether this is the last message in its direction
 * @param subset the hosts that may be picked, with or without ports; null for all
 * @param served the endpoint that answered, {@code host:port}; null if Envoy does not send it
 * @param source the client's {@code address:port}; null if Envoy does not send it
 * @param modes the body modes; null if the message does not contain them
 * @param observing whether Envoy only observes, so that it neither expects nor accepts responses
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

  static final String SUBSET_NAMESPACE = "envoy.lb.subset_hint";
  static final String SUBSET_KEY = "x-gateway-destination-endpoint-subset";
  static final int MAX_ENDPOINTS = 4096;

  private static final String SERVED_NAMESPACE = "envoy.lb";
  private static final String SERVED_KEY = "x-gateway-destination-endpoint-served";
  private static final String ATTRIBUTES_NAMESPACE = "envoy.filters.http.ext_proc";
  private static final String SOURCE_KEY = "source.address";

  /** The parts of an exchange. */
  public enum Part {
    REQUEST_HEADERS,
    RESPONSE_HEADERS,
    REQUEST_BODY,
    RESPONSE_BODY,
    REQUEST_TRAILERS,
    RESPONSE_TRAILERS,
    /** A part that this version does not know. */
    OTHER;

    static Part of(Envoy.ProcessingRequest.RequestCase sent) {
      return sent == Envoy.ProcessingRequest.RequestCase.REQUEST_NOT_SET
          ? OTHER
          : valueOf(sent.name());
    }

    /** Returns whether it belongs to the response. */
    public boolean isResponse() {
      return this == RESPONSE_HEADERS || this == RESPONSE_BODY || this == RESPONSE_TRAILERS;
    }
  }

  /** The modes in which Envoy sends the two bodies. */
  public record Modes(BodyMode request, BodyMode response) {

    /** Returns whether Envoy delays the headers until the body has been sent. */
    public boolean holdsHeaders() {
      return request != BodyMode.NONE && request != BodyMode.STREAMED;
    }
  }

  /** Returns the name of the part, without its content. */
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
      throw new MalformedMessageException("the message is not a ProcessingRequest");
    }
  }

  private static ProcessingRequest of(Envoy.ProcessingRequest message)
      throws MalformedMessageException {
    Part part = Part.of(message.getRequestCase());
    boolean response = part.isResponse();
    // Fields of other parts are empty.
    Envoy.HttpHeaders headers =
        response ? message.getResponseHeaders() : message.getRequestHeaders();
    Envoy.HttpBody body = response ? message.getResponseBody() : message.getRequestBody();
    Envoy.HttpTrailers trailers =
        response ? message.getResponseTrailers() : message.getRequestTrailers();
    boolean ended = part == Part.REQUEST_TRAILERS || part == Part.RESPONSE_TRAILERS;
    return new ProcessingRequest(
        part,
        HeaderList.of(ended ? trailers.getTrailers() : headers.getHeaders()),
        body.getBody().asReadOnlyByteBuffer(),
        ended
            || headers.getEndOfStream()
            || body.getEndOfStream()
            || body.getEndOfStreamWithoutMessage(),
        subset(message),
        served(message),
        source(message),
        message.hasProtocolConfig() ? modes(message.getProtocolConfig()) : null,
        message.getObservabilityMode());
  }

  private static Modes modes(Envoy.ProtocolConfiguration config) throws MalformedMessageException {
    return new Modes(
        known(config.getRequestBodyMode(), config.getRequestBodyModeValue()),
        known(config.getResponseBodyMode(), config.getResponseBodyModeValue()));
  }

  private static BodyMode known(BodyMode mode, int number) throws MalformedMessageException {
    if (mode == BodyMode.UNRECOGNIZED) {
      throw new MalformedMessageException("the body mode " + number + " is unknown");
    }
    return mode;
  }

  /**
   * Returns the endpoints that may be picked, from a list or a comma-separated text; null for all.
   */
  private static @Nullable List<String> subset(Envoy.ProcessingRequest message)
      throws MalformedMessageException {
    Value hint =
        find(message.getMetadataContext().getFilterMetadataMap(), SUBSET_NAMESPACE, SUBSET_KEY);
    if (hint == null) {
      return null;
    }
    List<String> endpoints = new ArrayList<>();
    add(hint.getStringValue(), endpoints);
    for (Value each : hint.getListValue().getValuesList()) {
      add(each.getStringValue(), endpoints);
    }
    return List.copyOf(endpoints);
  }

  private static void add(String text, List<String> endpoints) throws MalformedMessageException {
    for (String each : text.split(",", -1)) {
      if (each.isBlank()) {
        continue;
      }
      if (endpoints.size() == MAX_ENDPOINTS) {
        throw new MalformedMessageException(
            "the subset hint contains more than " + MAX_ENDPOINTS + " endpoints");
      }
      endpoints.add(each.strip());
    }
  }

  /** Returns the endpoint that answered, {@code host:port}; null if Envoy does not send it. */
  private static @Nullable String served(Envoy.ProcessingRequest message) {
    return text(
        find(message.getMetadataContext().getFilterMetadataMap(), SERVED_NAMESPACE, SERVED_KEY));
  }

  /** Returns the client's {@code address:port}; null unless it is among the filter's attributes. */
  private static @Nullable String source(Envoy.ProcessingRequest message) {
    return text(find(message.getAttributesMap(), ATTRIBUTES_NAMESPACE, SOURCE_KEY));
  }

  private static @Nullable String text(@Nullable Value value) {
    return value == null || value.getStringValue().isEmpty() ? null : value.getStringValue();
  }

  private static @Nullable Value find(Map<String, Struct> all, String namespace, String key) {
    Struct fields = all.get(namespace);
    return fields == null ? null : fields.getFieldsMap().get(key);
  }
}
