package io.inferspan.extproc.wire;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import io.envoyproxy.envoy.config.core.v3.HeaderMap;
import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.config.core.v3.Metadata;
import io.envoyproxy.envoy.extensions.filters.http.ext_proc.v3.ProcessingMode.BodySendMode;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpBody;
import io.envoyproxy.envoy.service.ext_proc.v3.HttpHeaders;
import io.envoyproxy.envoy.service.ext_proc.v3.ProtocolConfiguration;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * Mutated messages: each is read, or refused with a reason. {@code -Dinferspan.fuzz.rounds} sets
 * how many; a million is the bar.
 */
final class WireFuzzTest {

  private static final int ROUNDS = Integer.getInteger("inferspan.fuzz.rounds", 100_000);
  private static final long SEED = Long.getLong("inferspan.fuzz.seed", 20_261_121L);

  private static List<byte[]> seeds() {
    HeaderMap.Builder headers = HeaderMap.newBuilder();
    for (String name : List.of(":method", ":path", "traceparent", "content-type")) {
      headers.addHeaders(
          HeaderValue.newBuilder().setKey(name).setRawValue(ByteString.copyFromUtf8("value")));
    }
    Value endpoints = Value.newBuilder().setStringValue("10.0.0.1:80,10.0.0.2:80").build();
    Metadata.Builder metadata =
        Metadata.newBuilder()
            .putFilterMetadata(
                ProcessingRequest.SUBSET_NAMESPACE,
                Struct.newBuilder().putFields(ProcessingRequest.SUBSET_KEY, endpoints).build());
    io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest.Builder begin =
        io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest.newBuilder()
            .setRequestHeaders(HttpHeaders.newBuilder().setHeaders(headers))
            .setMetadataContext(metadata)
            .setProtocolConfig(
                ProtocolConfiguration.newBuilder()
                    .setRequestBodyMode(BodySendMode.FULL_DUPLEX_STREAMED));
    io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest.Builder body =
        io.envoyproxy.envoy.service.ext_proc.v3.ProcessingRequest.newBuilder()
            .setResponseBody(
                HttpBody.newBuilder()
                    .setBody(ByteString.copyFromUtf8("data: {}\n\n"))
                    .setEndOfStream(true));
    return List.of(begin.build().toByteArray(), body.build().toByteArray());
  }

  @Test
  void mutatedMessages_areReadOrRefused() {
    SplittableRandom random = new SplittableRandom(SEED);
    System.out.println("fuzz of external processing: seed " + SEED + ", rounds " + ROUNDS);
    List<byte[]> seeds = seeds();
    int refused = 0;
    for (int round = 0; round < ROUNDS; round++) {
      byte[] mutated = mutate(seeds.get(round % seeds.size()), random);
      try {
        ProcessingRequest read = ProcessingRequest.read(ByteBuffer.wrap(mutated));
        assertThat(heldBytes(read)).isLessThanOrEqualTo(2L * mutated.length);
      } catch (MalformedMessageException e) {
        assertThat(e.reason()).isNotEmpty();
        refused++;
      } catch (RuntimeException e) {
        throw new AssertionError("round " + round + " of seed " + SEED, e);
      }
    }
    assertThat(refused).isBetween(ROUNDS / 10, ROUNDS);
  }

  /** Returns the characters and views held by a message: never more than its bytes. */
  private static long heldBytes(ProcessingRequest read) {
    long held = read.body().remaining();
    held +=
        read.headers().toMap().entrySet().stream()
            .mapToLong(entry -> entry.getKey().length() + entry.getValue().length())
            .sum();
    List<String> subset = read.subset();
    return held + (subset == null ? 0 : subset.stream().mapToLong(String::length).sum());
  }

  private static byte[] mutate(byte[] seed, SplittableRandom random) {
    byte[] bytes = seed.clone();
    int changes = 1 + random.nextInt(4);
    for (int i = 0; i < changes; i++) {
      int at = random.nextInt(bytes.length);
      bytes[at] =
          switch (random.nextInt(4)) {
            case 0 -> (byte) random.nextInt(256);
            case 1 -> (byte) (bytes[at] ^ 1 << random.nextInt(8));
            case 2 -> (byte) 0xff;
            default -> 0;
          };
    }
    return random.nextInt(4) == 0 ? Arrays.copyOf(bytes, random.nextInt(bytes.length + 1)) : bytes;
  }
}
