package io.inferspan.ebpf.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Reads the golden bytes that C code writes with {@code wire.h}. */
class EventViewTest {

  private static final Path GOLDEN = Path.of("src/test/resources/golden/wire.bin");

  @Test
  void goldenRecord_isReadFieldByField() throws Exception {
    EventView event = golden(0, 64);

    assertThat(event.kind()).isEqualTo(Kind.CUDA_LAUNCH.number());
    assertFields(event);
    assertThat(event.textLength()).isZero();
    assertThat(event.text()).isEmpty();
  }

  @Test
  void goldenTextRecord_hasItsTextAfterTheFields() throws Exception {
    EventView event = golden(64, 192);

    assertThat(event.kind()).isEqualTo(Kind.SYSCALL_OPENAT.number());
    assertFields(event);
    assertThat(event.text()).isEqualTo("/models/example/config.json");
  }

  @Test
  void goldenHead_namesItsOwner() throws Exception {
    EventView event = golden(256, 192);

    assertThat(event.kind()).isEqualTo(Kind.OWNER_BEGAN.number());
    assertFields(event);
    assertThat(event.namesOwner()).isTrue();
    assertThat(event.traceIdHigh()).isEqualTo(0xa0a1a2a3a4a5a6a7L);
    assertThat(event.traceIdLow()).isEqualTo(0xa8a9aaabacadaeafL);
    assertThat(event.spanId()).isEqualTo(0xc0c1c2c3c4c5c6c7L);
    assertThat(event.requestId()).isEqualTo("chatcmpl-7");
  }

  @Test
  void ownerNumberOfASpan_isThatOfTheBpfPrograms() throws Exception {
    byte[] bytes = Files.readAllBytes(GOLDEN);
    ByteBuffer own = ByteBuffer.wrap(bytes, 504, 32).order(ByteOrder.LITTLE_ENDIAN);
    long number = own.getLong();
    own.order(ByteOrder.BIG_ENDIAN);

    assertThat(Owner.ofSpan(own.getLong(), own.getLong(), own.getLong())).isEqualTo(number);
    assertThat(Owner.isSpan(number)).isTrue();
  }

  private static EventView golden(int offset, int length) throws Exception {
    byte[] bytes = Files.readAllBytes(GOLDEN);
    assertThat(bytes).hasSize(632);
    return EventBytes.view(bytes).moveTo(offset, length);
  }

  private static void assertFields(EventView event) {
    assertThat(event.isWhole()).isTrue();
    assertThat(event.hasOwner()).isTrue();
    assertThat(event.startNanos()).isEqualTo(0x1112131415161718L);
    assertThat(event.endNanos()).isEqualTo(0x2122232425262728L);
    assertThat(event.owner()).isEqualTo(0xa0a1a2a3a4a5a6a7L);
    assertThat(event.tgid()).isEqualTo(0x31323334);
    assertThat(event.tid()).isEqualTo(0x41424344);
    assertThat(Source.of(event.source())).isEqualTo(Source.INHERITED);
    assertThat(event.isTextCut()).isTrue();
    assertThat(event.result()).isEqualTo(-110);
    assertThat(event.amount()).isEqualTo(0x5152535455565758L);
    assertThat(event.detail()).isEqualTo(0x6162636465666768L);
    assertThat(event.extra()).isEqualTo(0x7172737475767778L);
  }

  @Test
  void eventsWithAnInvalidLengthOrTime_areNotWhole() {
    byte[] good = EventBytes.of(Kind.CUDA_LAUNCH).from(5, 5).bytes();

    assertThat(EventBytes.view(good).isWhole()).isTrue();
    assertThat(EventBytes.view(new byte[0]).isWhole()).isFalse();
    assertThat(EventBytes.view(new byte[Layout.FIXED_BYTES - 1]).isWhole()).isFalse();
    assertThat(EventBytes.view(new byte[Layout.MAX_BYTES + 1]).isWhole()).isFalse();
    assertThat(EventBytes.of(Kind.CUDA_LAUNCH).from(6, 5).view().isWhole()).isFalse();
    assertThat(EventBytes.of(Kind.CUDA_LAUNCH).from(-1, 5).view().isWhole()).isFalse();
  }

  @Test
  void eventWithIncompleteIds_namesNoOwner() {
    assertThat(EventBytes.of(1).under(1).named(1, 0, 1).view().namesOwner()).isTrue();
    assertThat(EventBytes.of(1).under(1).named(0, 1, 1).view().namesOwner()).isTrue();
    assertThat(EventBytes.of(1).under(1).named(1, 1, 0).view().namesOwner()).isFalse();
    assertThat(EventBytes.of(1).under(1).named(0, 0, 1).view().namesOwner()).isFalse();
    assertThat(EventBytes.of(1).under(0).named(1, 1, 1).view().namesOwner()).isFalse();
    assertThat(EventBytes.of(1).under(1).view().namesOwner()).isFalse();
  }

  @Test
  void textWithoutNul_endsWithTheRecord() {
    EventView event = EventBytes.of(Kind.SYSCALL_OPENAT).text("x".repeat(500)).view();

    assertThat(event.textLength()).isEqualTo(Layout.MAX_TEXT_BYTES);
  }

  @Test
  void textHash_ignoresBytesAfterTheNul() {
    byte[] one = EventBytes.of(Kind.CKP_OPERATION).text("decode").bytes();
    byte[] other = one.clone();
    other[Layout.MAX_BYTES - 1] = 9;

    assertThat(EventBytes.view(one).textHash()).isEqualTo(EventBytes.view(other).textHash());
    assertThat(EventBytes.of(Kind.CKP_OPERATION).text("decodf").view().textHash())
        .isNotEqualTo(EventBytes.view(one).textHash());
  }
}
