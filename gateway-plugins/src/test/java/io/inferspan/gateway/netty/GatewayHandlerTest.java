package io.inferspan.gateway.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.Telemetry;
import io.inferspan.gateway.GatewayRequest;
import io.inferspan.gateway.GatewayTracing;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.timeout.ReadTimeoutException;
import io.netty.util.ResourceLeakDetector;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** HTTP/1.1 beyond a single request and response. */
// Fire and forget is how Netty writes: a failed write ends in a closed channel.
@SuppressWarnings("FutureReturnValueIgnored")
final class GatewayHandlerTest {

  private static ResourceLeakDetector.Level before = ResourceLeakDetector.Level.SIMPLE;

  @BeforeAll
  static void lookForLeaks() {
    before = ResourceLeakDetector.getLevel();
    ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
  }

  @AfterAll
  static void lookNoMore() {
    ResourceLeakDetector.setLevel(before);
  }

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private EmbeddedChannel channel() {
    return new EmbeddedChannel(
        new GatewayHandler(GatewayTracing.create(Telemetry.using(tracing.openTelemetry()))));
  }

  private static ByteBuf utf8(String text) {
    return Unpooled.copiedBuffer(text, StandardCharsets.UTF_8);
  }

  private static DefaultFullHttpRequest ask(String id) {
    DefaultFullHttpRequest request =
        new DefaultFullHttpRequest(
            HttpVersion.HTTP_1_1,
            HttpMethod.POST,
            "/v1/chat/completions",
            utf8("{\"model\":\"tiny\"}"));
    request.headers().set("X-Request-Id", id);
    return request;
  }

  private static FullHttpResponse answer(int status) {
    return new DefaultFullHttpResponse(
        HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(status), utf8("{}"));
  }

  private static DefaultHttpResponse head() {
    DefaultHttpResponse head = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
    head.headers().set("content-type", "text/event-stream");
    return head;
  }

  private List<Object> ids() {
    return tracing.spans().stream().map(span -> span.attribute("gen_ai.request.id")).toList();
  }

  private SpanRecord only() {
    assertThat(tracing.spans()).hasSize(1);
    return tracing.spans().get(0);
  }

  @Test
  void answers_belongToRequestsInTheirOrder() {
    EmbeddedChannel channel = channel();
    channel.writeInbound(ask("a"), ask("b"), ask("c"));
    channel.writeOutbound(answer(200));
    assertThat(ids()).containsExactly("a");
    channel.writeOutbound(answer(503), answer(200));
    assertThat(ids()).containsExactly("a", "b", "c");
    assertThat(tracing.spans())
        .extracting(span -> span.attribute("http.response.status_code"))
        .containsExactly(200L, 503L, 200L);
    channel.finishAndReleaseAll();
  }

  @Test
  void requestOfTheHandlers_isAnAttributeOfTheChannel() {
    EmbeddedChannel channel = channel();
    assertThat(GatewayHandler.current(channel)).isNull();
    channel.writeInbound(ask("a"));
    GatewayRequest first = Objects.requireNonNull(GatewayHandler.current(channel));
    channel.writeInbound(ask("b"));
    assertThat(GatewayHandler.current(channel)).isNotNull().isNotEqualTo(first);
    channel.finishAndReleaseAll();
  }

  @Test
  void continueAndEarlyHints_areNoAnswers() {
    EmbeddedChannel channel = channel();
    channel.writeInbound(ask("a"));
    channel.writeOutbound(
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE, Unpooled.EMPTY_BUFFER));
    channel.writeOutbound(
        new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.EARLY_HINTS),
        LastHttpContent.EMPTY_LAST_CONTENT);
    assertThat(tracing.spans()).isEmpty();
    channel.writeOutbound(answer(200));
    assertThat(only().attribute("http.response.status_code")).isEqualTo(200L);
    channel.finishAndReleaseAll();
  }

  @Test
  void upgrade_isTheEndOfItsRequest() {
    EmbeddedChannel channel = channel();
    channel.writeInbound(
        new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.GET, "/socket"),
        LastHttpContent.EMPTY_LAST_CONTENT);
    channel.writeOutbound(
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1, HttpResponseStatus.SWITCHING_PROTOCOLS, Unpooled.EMPTY_BUFFER));
    assertThat(only().attribute("http.response.status_code")).isEqualTo(101L);
    ByteBuf other = utf8("no longer HTTP");
    channel.writeInbound(other);
    channel.writeOutbound(other.retain());
    assertThat(tracing.spans()).hasSize(1);
    channel.finishAndReleaseAll();
  }

  @Test
  void headRequest_endsWithItsHead() {
    EmbeddedChannel channel = channel();
    channel.writeInbound(
        new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.HEAD, "/v1/models"),
        LastHttpContent.EMPTY_LAST_CONTENT);
    channel.writeOutbound(head(), LastHttpContent.EMPTY_LAST_CONTENT);
    assertThat(only().isError()).isFalse();
    assertThat(only().attribute("http.request.method")).isEqualTo("HEAD");
    channel.finishAndReleaseAll();
  }

  @Test
  void clientThatHalfClosesItsConnection_getsTheResponse() {
    EmbeddedChannel channel = channel();
    channel.writeInbound(ask("a"));
    channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
    assertThat(tracing.spans()).isEmpty();
    channel.writeOutbound(answer(200));
    assertThat(only().isError()).isFalse();
    channel.finishAndReleaseAll();
  }

  @Test
  void requestsOfAClientThatLeft_end() {
    EmbeddedChannel channel = channel();
    channel.writeInbound(ask("a"), ask("b"));
    channel.writeOutbound(head(), new DefaultHttpContent(utf8("data: ")));
    channel.close();
    assertThat(tracing.spans())
        .hasSize(2)
        .allSatisfy(
            span -> assertThat(span.attribute("error.type")).isEqualTo("client_disconnected"));
    channel.finishAndReleaseAll();
  }

  @Test
  void lastByteThatCannotLeave_isNoEnd() {
    EmbeddedChannel channel = channel();
    channel.writeInbound(ask("a"));
    channel.pipeline().fireChannelRead(LastHttpContent.EMPTY_LAST_CONTENT);
    channel.write(head());
    channel.write(LastHttpContent.EMPTY_LAST_CONTENT);
    assertThat(tracing.spans()).isEmpty();
    channel.close();
    assertThat(only().attribute("error.type")).isEqualTo("client_disconnected");
    channel.finishAndReleaseAll();
  }

  @Test
  void timeout_endsOpenRequests() {
    EmbeddedChannel channel = channel();
    channel.writeInbound(ask("a"));
    channel.pipeline().fireExceptionCaught(ReadTimeoutException.INSTANCE);
    assertThat(only().attribute("error.type")).isEqualTo("timeout");
    assertThatThrownBy(channel::checkException).isInstanceOf(ReadTimeoutException.class);
    channel.finishAndReleaseAll();
  }

  @Test
  void handlerThatIsTakenOut_leavesNoSpanOpen() {
    EmbeddedChannel channel = channel();
    channel.writeInbound(ask("a"));
    channel.pipeline().remove(GatewayHandler.class);
    assertThat(only().attribute("error.type")).isEqualTo("handler_removed");
    channel.writeOutbound(answer(200));
    channel.finishAndReleaseAll();
  }

  @Test
  void buffers_passWithTheirCountsAndIndices() {
    EmbeddedChannel channel = channel();
    DefaultFullHttpRequest request = ask("a");
    channel.writeInbound(request);
    assertThat(request.refCnt()).isEqualTo(1);
    assertThat(request.content().readerIndex()).isZero();
    CompositeByteBuf pieces = Unpooled.compositeBuffer();
    pieces.addComponent(true, utf8("data: {\"choices\":[{\"delta\":{\"content\""));
    pieces.addComponent(true, Unpooled.directBuffer().writeBytes(utf8(":\"a\"}}]}\n\n")));
    HttpResponse head = head();
    channel.writeOutbound(head, new DefaultHttpContent(pieces));
    assertThat(pieces.refCnt()).isEqualTo(1);
    assertThat(pieces.readerIndex()).isZero();
    assertThat(pieces.numComponents()).isEqualTo(2);
    channel.writeOutbound(new DefaultLastHttpContent(utf8("data: [DONE]\n\n")));
    SpanRecord span = only();
    assertThat(span.attribute("inferspan.response.tokens")).isEqualTo(1L);
    assertThat(span.attribute("inferspan.response.complete")).isEqualTo(true);
    assertThat(span.attribute("gen_ai.request.model")).isEqualTo("tiny");
    channel.finishAndReleaseAll();
    assertThat(pieces.refCnt()).isZero();
    assertThat(request.refCnt()).isZero();
  }
}
