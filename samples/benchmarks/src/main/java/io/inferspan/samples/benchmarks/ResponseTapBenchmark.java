package io.inferspan.samples.benchmarks;

import io.inferspan.response.ResponseTap;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures the cost of observing a stream of 64 chunks with a {@link ResponseTap}, compared with a
 * sum over the same bytes.
 *
 * <p>{@code observedChunks} passes the chunks to an existing tap and must not allocate. {@code
 * observedResponse} passes them to a new tap, as a whole response. {@code unobservedChunks} passes
 * them to a disabled tap.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@State(Scope.Thread)
@Fork(2)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class ResponseTapBenchmark {

  private static final int CHUNKS = 64;

  /**
   * The kind of stream: OpenAI's chat chunks, which have a long common prefix; Anthropic's events;
   * or chunks that differ early.
   */
  @Param({"chat", "messages", "unalike"})
  public String flavour = "chat";

  /** The memory of the buffers. */
  @Param({"heap", "direct"})
  public String memory = "heap";

  private final List<ByteBuffer> chunks = new ArrayList<>();
  private final ResponseTap blind = ResponseTap.blind();
  private ResponseTap warm = blind;
  private long nowNanos;

  @Setup(Level.Trial)
  public void fill() {
    for (int i = 0; i < CHUNKS; i++) {
      byte[] chunk = chunk(flavour, i).getBytes(StandardCharsets.UTF_8);
      ByteBuffer buffer =
          memory.equals("heap")
              ? ByteBuffer.allocate(chunk.length)
              : ByteBuffer.allocateDirect(chunk.length);
      chunks.add(buffer.put(chunk).flip());
    }
    warm = ResponseTap.forContentType("text/event-stream");
    System.out.println("# bytes per operation: " + bytes(flavour));
  }

  static int bytes(String flavour) {
    int bytes = 0;
    for (int i = 0; i < CHUNKS; i++) {
      bytes += chunk(flavour, i).getBytes(StandardCharsets.UTF_8).length;
    }
    return bytes;
  }

  private static String chunk(String flavour, int i) {
    String text = " word" + "s".repeat(i % 7);
    return switch (flavour) {
      case "messages" -> messagesEvent(text);
      case "unalike" -> chatChunk(1_790_000_000 + i, text);
      default -> chatChunk(1_790_000_000, text);
    };
  }

  private static String chatChunk(int created, String text) {
    return ("data: {\"id\":\"chatcmpl-8f14e45fceea167a5a36dedd4bea2543\","
            + "\"object\":\"chat.completion.chunk\",\"created\":%d,"
            + "\"model\":\"meta-llama/Llama-3.3-70B-Instruct\","
            + "\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%s\"},"
            + "\"logprobs\":null,\"finish_reason\":null,\"token_ids\":null}]}\n\n")
        .formatted(created, text);
  }

  private static String messagesEvent(String text) {
    return ("event: content_block_delta\n"
            + "data: {\"type\":\"content_block_delta\",\"index\":0,"
            + "\"delta\":{\"type\":\"text_delta\",\"text\":\"%s\"}}\n\n")
        .formatted(text);
  }

  @Benchmark
  public long sumOfBytes() {
    long sum = 0;
    for (ByteBuffer chunk : chunks) {
      for (int at = chunk.position(); at < chunk.limit(); at++) {
        sum += chunk.get(at);
      }
    }
    return sum;
  }

  @Benchmark
  public long observedChunks() {
    for (ByteBuffer chunk : chunks) {
      warm.see(chunk, nowNanos += 10_000_000);
    }
    return warm.tokens();
  }

  @Benchmark
  public boolean unobservedChunks() {
    for (ByteBuffer chunk : chunks) {
      blind.see(chunk, nowNanos += 10_000_000);
    }
    return blind.isSeeing();
  }

  @Benchmark
  public long observedResponse() {
    ResponseTap tap = ResponseTap.forContentType("text/event-stream; charset=utf-8");
    for (ByteBuffer chunk : chunks) {
      tap.see(chunk, nowNanos += 10_000_000);
    }
    tap.end(nowNanos);
    return tap.gapNanos(0.99);
  }
}
