package io.inferspan.pd.connector;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.pd.relay.BodyFilter;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import java.util.Objects;
import org.junit.jupiter.api.Test;

final class CachedTokensFilterTest {
  private static String text(ByteBuf content) {
    String text = content.toString(UTF_8);
    content.release();
    return text;
  }

  private static ByteBuf bytes(String text) {
    return Unpooled.copiedBuffer(text, UTF_8);
  }

  @Test
  void anAnswerThatIsTooLong_passesUnchanged() {
    BodyFilter filter =
        Objects.requireNonNull(
            CachedTokensFilter.of(
                new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK), 7, 12));

    assertThat(text(filter.rewrite(bytes("{\"usage\":{")))).isEmpty();
    assertThat(text(filter.rewrite(bytes("\"a\":1")))).isEqualTo("{\"usage\":{\"a\":1");
    assertThat(text(filter.rewrite(bytes("}}")))).isEqualTo("}}");
    assertThat(text(filter.end())).isEmpty();
    filter.discard();
  }
}
