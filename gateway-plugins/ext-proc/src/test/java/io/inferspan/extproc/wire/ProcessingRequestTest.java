package io.inferspan.extproc.wire;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import com.google.protobuf.ListValue;
import com.google.protobuf.Struct;
import com.google.protobuf.UnknownFieldSet;
import com.google.protobuf.Value;
import io.envoyproxy.envoy.config.core.v3.HeaderMap;
import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.config.core.v3.Metadata;
import io.envoyproxy.envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpBody;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpHeaders;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpTrailers;
import io.envoyproxy.envoy.service.ext_proc.v3.ProtocolConfiguration;
import io.inferspan.extproc.proto.Envoy.BodyMode;
import io.inferspan.extproc.wire.ProcessingRequest.Modes;
import io.inferspan.extproc.wire.ProcessingRequest.Part;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** Messages written by Envoy's own classes are read correctly. */
final class ProcessingRequestTest {

  private static final String NO_MESSAGE = "the message is not a ProcessingRequest";

  private static ProcessingRequest read(
      io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest.Builder message)
      throws MalformedMessageException {
    return ProcessingRequest.read(ByteBuffer.wrap(message.build().toByteArray()));
  }

  private static io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest.Builder message() {
    return io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest.newBuilder();
  }

  private static HeaderMap.Builder headers(String... namesAndValues) {
    HeaderMap.Builder map = HeaderMap.newBuilder();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      map.addHeaders(
          HeaderValue.newBuilder()
              .setKey(namesAndValues[i])
              .setRawValue(ByteString.copyFromUtf8(namesAndValues[i + 1])));
    }
    return map;
  }

  @Test
  void requestHeaders_areRead() throws Exception {
    HeaderMap.Builder map =
        headers(":method", "POST", "x-two", "1", "x-two", "2")
            .addHeaders(HeaderValue.newBuilder().setKey("x-text").setValue("text"));
    ProcessingRequest read =
        read(
            message()
                .setRequestHeaders(HttpHeaders.newBuilder().setHeaders(map).setEndOfStream(true))
                .setProtocolConfig(
                    ProtocolConfiguration.newBuilder()
                        .setRequestBodyMode(BodySendMode.FULL_DUPLEX_STREAMED)
                        .setResponseBodyMode(BodySendMode.STREAMED))
                .setObservabilityMode(true));
    assertThat(read.part()).isEqualTo(Part.REQUEST_HEADERS);
    assertThat(read.endOfStream()).isTrue();
    assertThat(read.observing()).isTrue();
    assertThat(read.modes()).isEqualTo(new Modes(BodyMode.FULL_DUPLEX_STREAMED, BodyMode.STREAMED));
    assertThat(read.headers().first(":METHOD")).isEqualTo("POST");
    assertThat(read.headers().all("X-Two")).containsExactly("1", "2");
    assertThat(read.headers().first("x-text")).isEqualTo("text");
    assertThat(read.headers().first("x-none")).isNull();
    assertThat(read.headers().toMap()).hasSize(3).containsEntry("X-TWO", "1");
  }

  @Test
  void eachPart_isDistinguished() throws Exception {
    HttpBody body = HttpBody.newBuilder().setBody(ByteString.copyFromUtf8("abc")).build();
    HttpBody last = body.toBuilder().setEndOfStream(true).build();
    HttpHeaders head = HttpHeaders.newBuilder().setHeaders(headers(":status", "200")).build();
    HttpTrailers trailers = HttpTrailers.newBuilder().setTrailers(headers("x-sum", "1")).build();
    assertThat(read(message().setResponseHeaders(head)).part()).isEqualTo(Part.RESPONSE_HEADERS);
    assertThat(read(message().setRequestBody(body)).part()).isEqualTo(Part.REQUEST_BODY);
    assertThat(read(message().setRequestBody(body)).endOfStream()).isFalse();
    ProcessingRequest end = read(message().setResponseBody(last));
    assertThat(end.part()).isEqualTo(Part.RESPONSE_BODY);
    assertThat(end.endOfStream()).isTrue();
    assertThat(UTF_8.decode(end.body()).toString()).isEqualTo("abc");
    assertThat(read(message().setRequestTrailers(trailers)).part())
        .isEqualTo(Part.REQUEST_TRAILERS);
    ProcessingRequest sum = read(message().setResponseTrailers(trailers));
    assertThat(sum.part()).isEqualTo(Part.RESPONSE_TRAILERS);
    assertThat(sum.headers().first("x-sum")).isEqualTo("1");
    assertThat(sum.endOfStream()).isTrue();
    assertThat(read(message()).part()).isEqualTo(Part.OTHER);
  }

  @Test
  void everyMode_isKnown() throws Exception {
    for (BodySendMode theirs : BodySendMode.values()) {
      if (theirs == BodySendMode.UNRECOGNIZED) {
        continue;
      }
      BodyMode mode = BodyMode.forNumber(theirs.getNumber());
      assertThat(theirs.name()).isEqualTo(mode.name());
      ProcessingRequest read =
          read(
              message()
                  .setProtocolConfig(
                      ProtocolConfiguration.newBuilder().setRequestBodyMode(theirs)));
      assertThat(read.modes()).isEqualTo(new Modes(mode, BodyMode.NONE));
    }
  }

  private static Metadata metadata(Value hint) {
    return Metadata.newBuilder()
        .putFilterMetadata("other", Struct.newBuilder().putFields("a", hint).build())
        .putFilterMetadata(
            "envoy.lb.subset_hint",
            Struct.newBuilder()
                .putFields("else", Value.newBuilder().setNumberValue(1).build())
                .putFields("x-gateway-destination-endpoint-subset", hint)
                .build())
        .build();
  }

  @Test
  void subsetHint_isAListOrText() throws Exception {
    Value a = Value.newBuilder().setStringValue("10.0.0.1:80").build();
    Value b = Value.newBuilder().setStringValue("10.0.0.2:80").build();
    Value number = Value.newBuilder().setNumberValue(5).build();
    ListValue list = ListValue.newBuilder().addValues(a).addValues(number).addValues(b).build();
    Value text = Value.newBuilder().setStringValue("10.0.0.1:80, 10.0.0.2:80,").build();
    for (Value hint : new Value[] {Value.newBuilder().setListValue(list).build(), text}) {
      assertThat(read(message().setMetadataContext(metadata(hint))).subset())
          .containsExactly("10.0.0.1:80", "10.0.0.2:80");
    }
    Value empty = Value.newBuilder().setListValue(ListValue.getDefaultInstance()).build();
    assertThat(read(message().setMetadataContext(metadata(empty))).subset()).isEmpty();
    assertThat(read(message().setMetadataContext(Metadata.getDefaultInstance())).subset()).isNull();
    assertThat(read(message()).subset()).isNull();
  }

  @Test
  void fieldsOfNewerEnvoys_areSkipped() throws Exception {
    UnknownFieldSet unknown =
        UnknownFieldSet.newBuilder()
            .addField(
                99,
                UnknownFieldSet.Field.newBuilder()
                    .addFixed32(1)
                    .addFixed64(2)
                    .addVarint(-1)
                    .addLengthDelimited(ByteString.copyFromUtf8("x"))
                    .build())
            .build();
    ProcessingRequest read =
        read(
            message()
                .setUnknownFields(unknown)
                .setRequestHeaders(
                    HttpHeaders.newBuilder()
                        .setUnknownFields(unknown)
                        .setHeaders(headers("a", "b").setUnknownFields(unknown))));
    assertThat(read.headers().first("a")).isEqualTo("b");
  }

  @Test
  void tooManyHeaders_areRefused() {
    HeaderMap.Builder map = headers();
    for (int i = 0; i <= HeaderList.MAX_HEADERS; i++) {
      map.addHeaders(HeaderValue.newBuilder().setKey("h"));
    }
    assertThatThrownBy(
            () -> read(message().setRequestHeaders(HttpHeaders.newBuilder().setHeaders(map))))
        .isInstanceOf(MalformedMessageException.class)
        .hasMessage("there are more than 1024 headers");
  }

  @Test
  void rubbish_isNamed() {
    assertMalformed(NO_MESSAGE, 0x00);
    assertMalformed(NO_MESSAGE, 0x80);
    assertMalformed(NO_MESSAGE, 0x12, 0x05, 0x01);
    assertMalformed(NO_MESSAGE, 0x0d, 0x01);
    assertMalformed(NO_MESSAGE, 0x0b);
    assertMalformed(NO_MESSAGE, 0x0c);
    assertMalformed("the body mode 9 is unknown", 0x5a, 0x02, 0x08, 0x09);
    assertMalformed(
        NO_MESSAGE, 0x50, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01);
  }

  private static void assertMalformed(String reason, int... bytes) {
    ByteBuffer message = ByteBuffer.allocate(bytes.length);
    for (int each : bytes) {
      message.put((byte) each);
    }
    assertThatThrownBy(() -> ProcessingRequest.read(message.flip()))
        .isInstanceOf(MalformedMessageException.class)
        .hasMessage(reason);
  }

  @Test
  void contentOfAMessage_isNotInItsText() throws Exception {
    ProcessingRequest read =
        read(
            message()
                .setRequestHeaders(
                    HttpHeaders.newBuilder().setHeaders(headers("authorization", "secret"))));
    assertThat(read.toString() + read.headers()).doesNotContain("secret");
  }
}
