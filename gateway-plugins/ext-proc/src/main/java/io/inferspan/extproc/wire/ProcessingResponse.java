package io.inferspan.extproc.wire;

import com.google.protobuf.ByteString;
import com.google.protobuf.MessageLite;
import com.google.protobuf.Struct;
import com.google.protobuf.UnsafeByteOperations;
import com.google.protobuf.Value;
import io.inferspan.extproc.proto.Envoy;
import io.inferspan.extproc.wire.ProcessingRequest.Part;
import java.nio.ByteBuffer;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Creates responses to Envoy: {@code envoy.service.ext_proc.v3.ProcessingResponse}. */
public final class ProcessingResponse {

  /** The maximum number of body bytes in a message, below Envoy's message limit of 64 KiB. */
  public static final int MAX_PIECE_BYTES = 62_000;

  /** The metadata namespace in which Envoy's load balancer looks up the endpoint. */
  private static final String ROUTING_NAMESPACE = "envoy.lb";

  private static final int SEND = 1;

  private ProcessingResponse() {}

  /**
   * A response to one part, with its changes.
   *
   * @param changes the changes of headers
   * @param reroute whether Envoy must select its route again, because headers changed
   * @param destination the endpoint for Envoy's load balancer, or null
   * @param modes the body modes from now on; null for no change
   */
  public record Answer(
      HeaderChanges changes,
      boolean reroute,
      @Nullable Destination destination,
      ProcessingRequest.@Nullable Modes modes) {

    /** Passes the part unchanged. */
    public static final Answer PASS = changing(new HeaderChanges());

    /** Returns a response that only changes headers. */
    public static Answer changing(HeaderChanges changes) {
      return new Answer(changes, false, null, null);
    }
  }

  /** A metadata entry for Envoy's load balancer. */
  public record Destination(String key, String value) {}

  /** Returns the response to headers, or to a part of a body in a mode other than full duplex. */
  public static MessageLite answer(Part part, Answer answer) {
    return answer(part, answer, common(answer));
  }

  /** Returns the response to a body in a mode other than full duplex, which replaces the body. */
  public static MessageLite replacing(Part part, Answer answer, List<ByteBuffer> body) {
    ByteString whole = ByteString.EMPTY;
    for (ByteBuffer piece : body) {
      whole = whole.concat(UnsafeByteOperations.unsafeWrap(piece));
    }
    return answer(
        part,
        answer,
        common(answer).setBodyMutation(Envoy.BodyMutation.newBuilder().setBody(whole)));
  }

  private static MessageLite answer(Part part, Answer answer, Envoy.CommonResponse.Builder common) {
    Envoy.ProcessingResponse.Builder out =
        to(part, Envoy.PartResponse.newBuilder().setResponse(common).build());
    Destination destination = answer.destination();
    if (destination != null) {
      Value endpoint = Value.newBuilder().setStringValue(destination.value()).build();
      Struct inner = Struct.newBuilder().putFields(destination.key(), endpoint).build();
      out.setDynamicMetadata(
          Struct.newBuilder()
              .putFields(ROUTING_NAMESPACE, Value.newBuilder().setStructValue(inner).build()));
    }
    ProcessingRequest.Modes modes = answer.modes();
    if (modes != null) {
      out.setModeOverride(override(modes));
    }
    return out.build();
  }

  /** Returns the response to trailers, which pass unchanged. */
  public static MessageLite trailers(Part part) {
    return to(part, Envoy.PartResponse.getDefaultInstance()).build();
  }

  /** Returns a message that forwards a piece of a body in full duplex mode. */
  public static MessageLite piece(Part part, ByteBuffer body, boolean endOfStream) {
    Envoy.StreamedBodyResponse.Builder piece =
        Envoy.StreamedBodyResponse.newBuilder()
            .setBody(UnsafeByteOperations.unsafeWrap(body))
            .setEndOfStream(endOfStream);
    Envoy.CommonResponse.Builder common =
        Envoy.CommonResponse.newBuilder()
            .setBodyMutation(Envoy.BodyMutation.newBuilder().setStreamedResponse(piece));
    return to(part, Envoy.PartResponse.newBuilder().setResponse(common).build()).build();
  }

  /**
   * Returns a response to the client, so that no engine is called.
   *
   * @param details a short text for Envoy's access log
   */
  public static MessageLite immediate(
      int status, HeaderChanges headers, String body, String details) {
    return Envoy.ProcessingResponse.newBuilder()
        .setImmediateResponse(
            Envoy.ImmediateResponse.newBuilder()
                .setStatus(Envoy.HttpStatus.newBuilder().setCode(status))
                .setHeaders(headers.toMessage())
                .setBody(ByteString.copyFromUtf8(body))
                .setDetails(details))
        .build();
  }

  private static Envoy.ProcessingResponse.Builder to(Part part, Envoy.PartResponse response) {
    Envoy.ProcessingResponse.Builder out = Envoy.ProcessingResponse.newBuilder();
    return switch (part) {
      case REQUEST_HEADERS -> out.setRequestHeaders(response);
      case RESPONSE_HEADERS -> out.setResponseHeaders(response);
      case REQUEST_BODY -> out.setRequestBody(response);
      case RESPONSE_BODY -> out.setResponseBody(response);
      case REQUEST_TRAILERS -> out.setRequestTrailers(response);
      case RESPONSE_TRAILERS -> out.setResponseTrailers(response);
      case OTHER -> throw new IllegalArgumentException("there is no response to an unknown part");
    };
  }

  private static Envoy.CommonResponse.Builder common(Answer answer) {
    Envoy.CommonResponse.Builder common =
        Envoy.CommonResponse.newBuilder().setClearRouteCache(answer.reroute());
    return answer.changes().isEmpty()
        ? common
        : common.setHeaderMutation(answer.changes().toMessage());
  }

  /** Sets all modes, because Envoy applies an override as a whole: an omitted mode would be off. */
  private static Envoy.ProcessingMode override(ProcessingRequest.Modes modes) {
    return Envoy.ProcessingMode.newBuilder()
        .setRequestHeaderMode(SEND)
        .setResponseHeaderMode(SEND)
        .setRequestBodyMode(modes.request())
        .setResponseBodyMode(modes.response())
        .setResponseTrailerMode(SEND)
        .build();
  }
}
