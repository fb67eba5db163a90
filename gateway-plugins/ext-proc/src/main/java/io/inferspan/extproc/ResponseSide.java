package io.inferspan.extproc;

import io.inferspan.epp.Endpoint;
import io.inferspan.epp.plugins.score.SessionAffinityScorer;
import io.inferspan.extproc.grpc.GrpcCall;
import io.inferspan.extproc.wire.BodyMode;
import io.inferspan.extproc.wire.HeaderChanges;
import io.inferspan.extproc.wire.HeaderList;
import io.inferspan.extproc.wire.ProcessingRequest;
import io.inferspan.extproc.wire.ProcessingRequest.Part;
import io.inferspan.extproc.wire.ProcessingResponse;
import io.inferspan.extproc.wire.ProcessingResponse.Answer;
import io.inferspan.gateway.UpstreamAttempt;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** An answer on its way to the client; it passes as it is and is looked at. */
final class ResponseSide {

  /** The header that gateway conformance tests read to find out which endpoint answered. */
  private static final String SERVED_HEADER = "x-conformance-test-served-endpoint";

  private static final String NOT_TOLD = "fail: missing destination endpoint served metadata";

  private final Course course;
  private boolean begun;

  ResponseSide(Course course) {
    this.course = course;
  }

  void receive(ProcessingRequest message) {
    if (course.isRefused()) {
      // Envoy shows what we answered ourselves, and no more.
      return;
    }
    switch (message.part()) {
      case RESPONSE_HEADERS -> {
        head(message.headers());
        served(message.served());
        course.answer(message.part(), Answer.changing(changes(message.served())));
      }
      case RESPONSE_BODY -> {
        see(message.body());
        if (course.modes().response() == BodyMode.FULL_DUPLEX_STREAMED) {
          Pieces.send(course, message);
        } else {
          course.answer(message.part(), Answer.PASS);
        }
      }
      default -> course.send(ProcessingResponse.trailers(Part.RESPONSE_TRAILERS));
    }
    if (message.endOfStream()) {
      end();
    }
  }

  private void head(HeaderList headers) {
    begun = true;
    int status = status(headers.first(":status"));
    // A body that is not shown must not count as one without tokens.
    boolean shown = course.modes().response() != BodyMode.NONE;
    String type = shown ? headers.first("content-type") : null;
    String encoding = headers.first("content-encoding");
    UpstreamAttempt attempt = course.attempt();
    if (attempt == null) {
      course.request().responseHead(status, type, encoding);
    } else {
      course.request().status(status);
      attempt.responseHead(status, type, encoding);
    }
  }

  /** Envoy may have gone on to another endpoint than the first: that one's the answer is. */
  private void served(@Nullable String authority) {
    UpstreamAttempt attempt = course.attempt();
    if (attempt != null && authority != null) {
      attempt.target(authority);
    }
  }

  private HeaderChanges changes(@Nullable String served) {
    HeaderChanges changes = new HeaderChanges();
    if (course.service().tellsServed()) {
      changes.set(SERVED_HEADER, served == null ? NOT_TOLD : served);
    }
    Endpoint target = course.target();
    if (target != null && course.service().sendsSessionTokens()) {
      changes.set(SessionAffinityScorer.TOKEN_HEADER, SessionAffinityScorer.token(target));
    }
    return changes;
  }

  private static int status(@Nullable String text) {
    try {
      return text == null ? 0 : Integer.parseInt(text);
    } catch (NumberFormatException e) {
      return 0;
    }
  }

  private void see(ByteBuffer piece) {
    UpstreamAttempt attempt = course.attempt();
    if (attempt == null) {
      course.request().see(piece);
    } else {
      attempt.see(piece);
    }
  }

  private void end() {
    UpstreamAttempt attempt = course.attempt();
    if (attempt != null) {
      attempt.end();
    }
    course.request().end();
  }

  /**
   * Handles the end of the stream. If the response is incomplete, the client has gone; or its body
   * was not to be shown, and the response's head is the last message.
   */
  void closed(int status) {
    if (status != GrpcCall.OK) {
      course.request().fail("grpc_status_" + status, cause(status));
    } else if (begun && course.modes().response() == BodyMode.NONE) {
      end();
    } else {
      course.request().clientGone();
    }
  }

  private static String cause(int status) {
    return switch (status) {
      case GrpcCall.INVALID_ARGUMENT -> "Envoy sent an invalid external processing message";
      case GrpcCall.RESOURCE_EXHAUSTED -> "there was no room for what Envoy sent";
      default -> "the picker failed";
    };
  }
}
