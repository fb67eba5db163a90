package io.inferspan.extproc.wire;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.MessageLite;
import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.config.core.v3.HeaderValueOption;
import io.envoyproxy.envoy.config.core.v3.HeaderValueOption.HeaderAppendAction;
import io.envoyproxy.envoy.extensions.filters.http.ext_proc.v3.ProcessingMode;
import io.envoyproxy.envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode;
import io.envoyproxy.envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.HeaderSendMode;
import io.envoyproxy.envoy.service.ext_proc.v3.BodyMutation;
import io.envoyproxy.envoy.service.ext_proc.v3.BodyResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.CommonResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.HeaderMutation;
import io.envoyproxy.envoy.service.ext_proc.v3.HeadersResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.ImmediateResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.StreamedBodyResponse;
import io.envoyproxy.envoy.service.ext_proc.v3.TrailersResponse;
import io.envoyproxy.envoy.type.v3.HttpStatus;
import io.envoyproxy.envoy.type.v3.StatusCode;
import io.inferspan.extproc.proto.Envoy.BodyMode;
import io.inferspan.extproc.wire.ProcessingRequest.Modes;
import io.inferspan.extproc.wire.ProcessingRequest.Part;
import io.inferspan.extproc.wire.ProcessingResponse.Answer;
import io.inferspan.extproc.wire.ProcessingResponse.Destination;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Written messages equal those of Envoy's own classes byte for byte. */
final class ProcessingResponseTest {

  private static io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse.Builder expected() {
    return io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse.newBuilder();
  }

  private static void assertSame(
      MessageLite written,
      io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse.Builder expected)
      throws Exception {
    byte[] message = written.toByteArray();
    assertThat(io.envoyproxy.envoy.service.ext_proc.v3.ProcessingResponse.parseFrom(message))
        .isEqualTo(expected.build());
  }

  private static HeaderValueOption option(String name, String value) {
    return HeaderValueOption.newBuilder()
        .setHeader(
            HeaderValue.newBuilder().setKey(name).setRawValue(ByteString.copyFromUtf8(value)))
        .setAppendAction(HeaderAppendAction.OVERWRITE_IF_EXISTS_OR_ADD)
        .build();
  }

  @Test
  void answerToHeaders_isWritten() throws Exception {
    HeaderChanges changes =
        new HeaderChanges()
            .remove("X-Old")
            .remove("x-new")
            .set("X-New", "1")
            .set("Connection", "close")
            .set(":authority", "elsewhere");
    Struct inner =
        Struct.newBuilder()
            .putFields("key", Value.newBuilder().setStringValue("10.0.0.1:80").build())
            .build();
    assertSame(
        ProcessingResponse.answer(
            Part.REQUEST_HEADERS,
            new Answer(
                changes,
                true,
                new Destination("key", "10.0.0.1:80"),
                new Modes(BodyMode.BUFFERED, BodyMode.STREAMED))),
        expected()
            .setRequestHeaders(
                HeadersResponse.newBuilder()
                    .setResponse(
                        CommonResponse.newBuilder()
                            .setHeaderMutation(
                                HeaderMutation.newBuilder()
                                    .addSetHeaders(option("x-new", "1"))
                                    .addRemoveHeaders("x-old"))
                            .setClearRouteCache(true)))
            .setDynamicMetadata(
                Struct.newBuilder()
                    .putFields("envoy.lb", Value.newBuilder().setStructValue(inner).build()))
            .setModeOverride(
                ProcessingMode.newBuilder()
                    .setRequestHeaderMode(HeaderSendMode.SEND)
                    .setResponseHeaderMode(HeaderSendMode.SEND)
                    .setRequestBodyMode(BodySendMode.BUFFERED)
                    .setResponseBodyMode(BodySendMode.STREAMED)
                    .setResponseTrailerMode(HeaderSendMode.SEND)));
  }

  @Test
  void consent_isWrittenForEveryPart() throws Exception {
    HeadersResponse headers =
        HeadersResponse.newBuilder().setResponse(CommonResponse.getDefaultInstance()).build();
    BodyResponse body =
        BodyResponse.newBuilder().setResponse(CommonResponse.getDefaultInstance()).build();
    TrailersResponse trailers = TrailersResponse.getDefaultInstance();
    assertSame(
        ProcessingResponse.answer(Part.RESPONSE_HEADERS, Answer.PASS),
        expected().setResponseHeaders(headers));
    assertSame(
        ProcessingResponse.answer(Part.REQUEST_BODY, Answer.PASS), expected().setRequestBody(body));
    assertSame(
        ProcessingResponse.answer(Part.RESPONSE_BODY, Answer.PASS),
        expected().setResponseBody(body));
    assertSame(
        ProcessingResponse.trailers(Part.REQUEST_TRAILERS),
        expected().setRequestTrailers(trailers));
    assertSame(
        ProcessingResponse.trailers(Part.RESPONSE_TRAILERS),
        expected().setResponseTrailers(trailers));
  }

  @Test
  void pieces_areWrittenAtEverySizeOfALength() throws Exception {
    for (int size : new int[] {0, 1, 100, 127, 128, 500, 16_383, 16_384, 62_000}) {
      byte[] bytes = new byte[size];
      Arrays.fill(bytes, (byte) 'x');
      MessageLite written =
          ProcessingResponse.piece(Part.RESPONSE_BODY, ByteBuffer.wrap(bytes), true);
      assertThat(written.getSerializedSize()).isLessThan(64 * 1024);
      assertSame(
          written,
          expected()
              .setResponseBody(
                  BodyResponse.newBuilder()
                      .setResponse(
                          CommonResponse.newBuilder()
                              .setBodyMutation(
                                  BodyMutation.newBuilder()
                                      .setStreamedResponse(
                                          StreamedBodyResponse.newBuilder()
                                              .setBody(ByteString.copyFrom(bytes))
                                              .setEndOfStream(true))))));
    }
  }

  @Test
  void immediateAnswer_isWritten() throws Exception {
    assertSame(
        ProcessingResponse.immediate(429, new HeaderChanges().set("a", "b"), "body é", "why"),
        expected()
            .setImmediateResponse(
                ImmediateResponse.newBuilder()
                    .setStatus(HttpStatus.newBuilder().setCode(StatusCode.TooManyRequests))
                    .setHeaders(HeaderMutation.newBuilder().addSetHeaders(option("a", "b")))
                    .setBody(ByteString.copyFromUtf8("body é"))
                    .setDetails("why")));
  }
}
