package io.inferspan.gateway.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.Telemetry;
import io.inferspan.gateway.GatewayTracing;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.DefaultHttp2ResetFrame;
import io.netty.handler.codec.http2.Http2Error;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A stream of HTTP/2 beyond a request and its response. */
@SuppressWarnings("FutureReturnValueIgnored") // a failed write ends in a closed channel
final class Http2GatewayHandlerTest {

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private EmbeddedChannel asked() {
    EmbeddedChannel channel =
        new EmbeddedChannel(
            new Http2GatewayHandler(
                GatewayTracing.create(Telemetry.using(tracing.openTelemetry()))));
    channel.writeInbound(
        new DefaultHttp2HeadersFrame(
            new DefaultHttp2Headers().method("POST").path("/v1/chat/completions"), false));
    return channel;
  }

  private SpanRecord only() {
    assertThat(tracing.spans()).hasSize(1);
    return tracing.spans().get(0);
  }

  @Test
  void resetAfterTheWholeResponse_onlyStopsTheRequestsBody() {
    EmbeddedChannel channel = asked();
    channel.write(new DefaultHttp2HeadersFrame(new DefaultHttp2Headers().status("413"), true));
    channel.write(new DefaultHttp2ResetFrame(Http2Error.NO_ERROR));
    channel.flush();
    assertThat(only().attribute("error.type")).isNull();
    assertThat(only().attribute("http.response.status_code")).isEqualTo(413L);
    channel.finishAndReleaseAll();
  }

  @Test
  void resetWithinAResponse_isAFailure() {
    EmbeddedChannel channel = asked();
    channel.write(new DefaultHttp2HeadersFrame(new DefaultHttp2Headers().status("200"), false));
    channel.write(new DefaultHttp2ResetFrame(Http2Error.INTERNAL_ERROR));
    channel.flush();
    assertThat(only().attribute("error.type")).isEqualTo("stream_reset");
    channel.finishAndReleaseAll();
  }
}
