package io.inferspan.ebpf.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Reads a million mutated records, which neither throws nor returns wrong fields. */
class EventViewFuzzTest {

  private static final int RECORDS = Integer.getInteger("wire.fuzz", 1_000_000);
  private static final long SEED = Long.getLong("wire.fuzz.seed", 20261121L);

  /** Random bytes with a record at a random offset, as in a ring. */
  private final byte[] ring = new byte[4 * 512];

  private final MemorySegment mapped = Arena.ofAuto().allocate(ring.length, Long.BYTES);
  private final EventView view = new EventView().over(mapped);

  @Test
  void mutatedRecords_areReadOrRefused() {
    System.out.println("wire.fuzz.seed=" + SEED);
    Random random = new Random(SEED);
    byte[] good = EventBytes.of(Kind.SYSCALL_OPENAT).from(10, 20).under(7).text("/a").bytes();
    int whole = 0;
    for (int i = 0; i < RECORDS; i++) {
      int offset = 8 * random.nextInt(64);
      int length = length(random);
      random.nextBytes(ring);
      if (random.nextBoolean()) {
        System.arraycopy(good, 0, ring, offset, good.length);
        for (int flips = random.nextInt(4); flips > 0; flips--) {
          ring[offset + random.nextInt(good.length)] ^= (byte) (1 << random.nextInt(8));
        }
      }
      MemorySegment.copy(ring, 0, mapped, ValueLayout.JAVA_BYTE, 0, ring.length);
      view.moveTo(offset, length);
      if (view.isWhole()) {
        whole++;
        assertReadAsWritten(offset, length);
      }
    }
    assertThat(whole).isGreaterThan(RECORDS / 10);
  }

  private static int length(Random random) {
    return switch (random.nextInt(4)) {
      case 0 -> random.nextInt(600);
      case 1 -> Layout.FIXED_BYTES;
      default -> Layout.MAX_BYTES;
    };
  }

  private boolean namedAsWritten(int offset) {
    return !view.namesOwner()
        || (view.traceIdHigh() == big(offset + 64)
            && view.traceIdLow() == big(offset + 72)
            && view.spanId() == big(offset + 80)
            && view.requestId().length() <= 104);
  }

  /** Compares with a reader that uses neither layouts nor buffers. */
  private void assertReadAsWritten(int offset, int length) {
    boolean same =
        length >= 64
            && length <= 192
            && view.startNanos() == little(offset, 8)
            && view.endNanos() == little(offset + 8, 8)
            && view.owner() == little(offset + 16, 8)
            && view.tgid() == (int) little(offset + 24, 4)
            && view.tid() == (int) little(offset + 28, 4)
            && view.kind() == little(offset + 32, 2)
            && view.source() == little(offset + 34, 1)
            && view.isTextCut() == ((ring[offset + 35] & 2) != 0)
            && view.result() == (int) little(offset + 36, 4)
            && view.amount() == little(offset + 40, 8)
            && view.detail() == little(offset + 48, 8)
            && view.extra() == little(offset + 56, 8)
            && namedAsWritten(offset)
            && view.textLength() == textLength(offset, length);
    if (!same) {
      byte[] record = Arrays.copyOfRange(ring, offset, offset + length);
      throw new AssertionError("misread: " + new BigInteger(1, record).toString(16));
    }
    view.text();
    view.textHash();
    Source.of(view.source()).word();
    FdKind.of((int) view.detail()).word();
    Kind kind = Kind.of(view.kind());
    assertThat(kind == null || kind.number() == view.kind()).isTrue();
  }

  private long little(int at, int bytes) {
    long value = 0;
    for (int i = bytes - 1; i >= 0; i--) {
      value = (value << 8) | (ring[at + i] & 0xff);
    }
    return value;
  }

  private long big(int at) {
    return Long.reverseBytes(little(at, 8));
  }

  private int textLength(int offset, int length) {
    int end = offset + 64;
    while (end < offset + length && ring[end] != 0) {
      end++;
    }
    return end - offset - 64;
  }
}
