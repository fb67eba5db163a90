package io.inferspan.pd.json;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

@ParameterizedClass
@ValueSource(booleans = {false, true})
class CachedTokensTest {
  private static final String START =
      """
      : keep-alive "usage"
      event: chunk
      data: {"choices":[{"delta":{"content":"a \\"usage\\" of words"}}],"usage":null}

      data: {"choices":[{"delta":{"content":"日本"}}],"usage":"none"}\r
      \r
      data: not JSON, "usage":{"prompt_tokens_details":{"cached_tokens":49}}
      id: {"usage":{}}
      """;
  private static final String END = "\ndata: [DONE]\n\n: \"usage\" unterminated";
  private static final String STREAM =
      START
          + "data: { \"usage\" : {\"prompt_tokens_details\":{\"cached_tokens\": 49 }, \"n\":1e2}"
          + " }\r\n"
          + "data: {\"usage\":{\"total_tokens\":5,\"prompt_tokens_details\":null}}\n"
          + "data:{\"usage\":{}}\n"
          + END;
  private static final String REWRITTEN =
      START
          + "data: { \"usage\" : {\"prompt_tokens_details\":{\"cached_tokens\": 7 }, \"n\":1e2}"
          + " }\r\n"
          + "data:"
          + " {\"usage\":{\"total_tokens\":5,\"prompt_tokens_details\":{\"cached_tokens\":7}}}\n"
          + "data:{\"usage\":{\"prompt_tokens_details\":{\"cached_tokens\":7}}}\n"
          + END;

  private final UnpooledByteBufAllocator memory;
  private final CachedTokens rewriter = new CachedTokens(7);

  CachedTokensTest(boolean direct) {
    memory = new UnpooledByteBufAllocator(direct);
  }

  @AfterEach
  void everyBufferIsFreed() {
    rewriter.close();
    assertThat(memory.metric().usedDirectMemory()).isZero();
    assertThat(memory.metric().usedHeapMemory()).isZero();
  }

  @Test
  void count_isReplaced_ifThereIsUsage() {
    assertThat(pass(STREAM) + end()).isEqualTo(REWRITTEN);
  }

  @Test
  void everySplitInTwo_givesTheSameBytes() {
    byte[] stream = STREAM.getBytes(UTF_8);
    byte[] expected = REWRITTEN.getBytes(UTF_8);
    for (int i = 0; i <= stream.length; i++) {
      ByteBuf out = memory.buffer();
      take(out, rewriter.rewrite(buffer(stream, 0, i)));
      take(out, rewriter.rewrite(buffer(stream, i, stream.length)));
      take(out, rewriter.end());
      assertSame(out, expected, i);
    }
  }

  @Test
  void randomPieces_giveTheSameBytes() {
    byte[] stream = STREAM.getBytes(UTF_8);
    byte[] expected = REWRITTEN.getBytes(UTF_8);
    for (int size = 1; size < stream.length; size++) {
      ByteBuf out = memory.buffer();
      for (int at = 0; at < stream.length; at += size) {
        take(out, rewriter.rewrite(buffer(stream, at, Math.min(stream.length, at + size))));
      }
      take(out, rewriter.end());
      assertSame(out, expected, size);
    }
  }

  @Test
  void chunksWithoutUsage_passAsTheSameBuffer() {
    for (String chunk : new String[] {"data: {\"a\":\"gauge usage\"}\n\n", "", START}) {
      ByteBuf in = buffer(chunk);
      ByteBuf out = rewriter.rewrite(in);
      assertThat(out).isSameAs(in);
      out.release();
    }
  }

  @Test
  void sameCount_changesNothing() {
    ByteBuf in = buffer("data: {\"usage\":{\"prompt_tokens_details\":{\"cached_tokens\":7.0}}}\n");
    ByteBuf out = rewriter.rewrite(in);
    assertThat(out).isSameAs(in);
    out.release();
  }

  @Test
  void unterminatedLine_doesNotDelayTheLinesBeforeIt() {
    assertThat(pass("data: a\ndata: {\"us")).isEqualTo("data: a\n");
    assertThat(pass("age\":{")).isEmpty();
    assertThat(pass("}}\ndata: b\n\nda"))
        .isEqualTo(
            "data: {\"usage\":{\"prompt_tokens_details\":{\"cached_tokens\":7}}}\ndata: b\n\n");
    assertThat(end()).isEqualTo("da");
    assertThat(end()).isEmpty();
  }

  @Test
  void sharedBuffers_areNotChanged() {
    ByteBuf in = buffer("xx" + STREAM + "yy").skipBytes(2);
    in.writerIndex(in.writerIndex() - 2);
    assertThat(text(rewriter.rewrite(in)) + end()).isEqualTo(REWRITTEN);
  }

  @Test
  void tooLongLine_isNotChanged_butTheNextLineIs() {
    String filler = "x".repeat(CachedTokens.MAX_LINE_LENGTH / 2);
    String usage = "data: {\"usage\":{\"prompt_tokens_details\":{\"cached_tokens\":49}}}";
    assertThat(pass("data: {\"usage\":{},\"a\":\"" + filler)).isEmpty();
    assertThat(pass(filler)).startsWith("data: {\"usage\":{},").endsWith(filler);
    assertThat(pass("\",\"usage\":{}}")).isEqualTo("\",\"usage\":{}}");
    assertThat(pass(usage + "\n" + usage + "\n"))
        .isEqualTo(usage + "\n" + usage.replace("49", "7") + "\n");
    assertThat(pass("data: a\n" + filler + filler + "x"))
        .endsWith("x")
        .hasSize(2 * filler.length() + 9);
    assertThat(pass("x\n")).isEqualTo("x\n");
    String complete = "data: {\"usage\":{},\"a\":\"" + filler + filler + "\"}\n";
    assertThat(pass(complete)).isEqualTo(complete);
  }

  @Test
  void heldBytes_areReleasedOnClose() {
    assertThat(pass("data: {\"usage\"")).isEmpty();
    assertThat(memory.metric().usedDirectMemory() + memory.metric().usedHeapMemory()).isPositive();
  }

  @Test
  void wholeBodies_areRewritten() {
    String before = " {\"usage\":{\"prompt_tokens_details\":{\"cached_tokens\":49,\"x\":1.0}}}\n";
    assertThat(rewritten(before, 7)).isEqualTo(before.replace("49", "7"));
    String created = "{\"id\":1,\"usage\":{\"prompt_tokens_details\":null}}";
    assertThat(rewritten(created, 0)).isEqualTo(created.replace("null", "{\"cached_tokens\":0}"));
  }

  @Test
  void bodiesWithoutUsage_areNotChanged() {
    for (String body :
        new String[] {
          "", "{\"error\":\"usage\"}", "{\"usage\":[]}", "[{\"usage\":{}}]", "{\"usage\":{}"
        }) {
      assertThat(rewritten(body, 7)).as(body).isNull();
    }
  }

  private @Nullable String rewritten(String body, long cachedTokens) {
    ByteBuf in = buffer(body);
    byte[] out = CachedTokens.replaced(in, cachedTokens);
    in.release();
    return out == null ? null : new String(out, UTF_8);
  }

  private static void take(ByteBuf out, ByteBuf part) {
    out.writeBytes(part);
    part.release();
  }

  private static void assertSame(ByteBuf out, byte[] expected, int which) {
    byte[] actual = new byte[out.readableBytes()];
    out.readBytes(actual).release();
    assertThat(actual).as("split %s", which).isEqualTo(expected);
  }

  private String pass(String chunk) {
    return text(rewriter.rewrite(buffer(chunk)));
  }

  private String end() {
    return text(rewriter.end());
  }

  private static String text(ByteBuf buffer) {
    String text = buffer.toString(UTF_8);
    buffer.release();
    return text;
  }

  private ByteBuf buffer(String text) {
    byte[] bytes = text.getBytes(UTF_8);
    return buffer(bytes, 0, bytes.length);
  }

  private ByteBuf buffer(byte[] bytes, int from, int to) {
    return memory.buffer(Math.max(1, to - from)).writeBytes(bytes, from, to - from);
  }
}
