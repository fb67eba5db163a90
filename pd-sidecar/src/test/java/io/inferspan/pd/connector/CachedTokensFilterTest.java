package io.inferspan.pd.connector;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.pd.memory.HeldBodies;
import io.inferspan.pd.memory.HeldBody;
import io.inferspan.pd.relay.BodyFilter;
import io.inferspan.pd.relay.Offload;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Supplier;
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
                new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK),
                7,
                12,
                new HeldBodies(1000),
                new Offload() {
                  @Override
                  public <T> void compute(
                      HeldBody body, Supplier<T> task, Consumer<? super T> next) {
                    next.accept(task.get());
                  }
                }));

    assertThat(text(filter.rewrite(bytes("{\"usage\":{")))).isEmpty();
    assertThat(text(filter.rewrite(bytes("\"a\":1")))).isEqualTo("{\"usage\":{\"a\":1");
    assertThat(text(filter.rewrite(bytes("}}")))).isEqualTo("}}");
    List<String> rest = new ArrayList<>();
    filter.end(last -> rest.add(text(last)));
    assertThat(rest).containsExactly("");
    filter.discard();
  }
}
