package io.inferspan.ebpf.spans;

import static io.inferspan.ebpf.spans.FakeKernel.MICRO;
import static io.inferspan.ebpf.spans.FakeKernel.MILLI;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.spans.SpanAccounting.Drop;
import io.inferspan.ebpf.wire.EventBytes;
import io.inferspan.ebpf.wire.Kind;
import io.inferspan.ebpf.wire.Owner;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Owners of events, which one event introduces; it may be lost. */
class OwnersTest {

  private static final long SPAN = Owner.ofSpan(1, 2, 3);

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private final FakeKernel kernel = new FakeKernel(tracing, FoldOptions.defaults());
  private final Owners owners = new Owners((number, tgid, tid) -> null);

  @AfterEach
  void accountingBalances() {
    EventSinkTest.assertBalance(kernel.sink.accounting());
  }

  private List<String> parents() {
    return tracing.spans().stream().map(SpanRecord::parentSpanId).toList();
  }

  @Test
  void knownOwner_isNotLookedUp() {
    kernel.happens(kernel.named(Kind.OWNER_BEGAN)).happens(Kind.CUDA_INIT, MICRO);
    kernel.endRequest();

    assertThat(parents()).containsExactly(FakeKernel.SPAN_TEXT);
    assertThat(kernel.lookups).isZero();
  }

  @Test
  void ownerWhoseBeginWasLost_isLookedUpOnce() {
    kernel.happens(Kind.CUDA_INIT, MICRO).happens(Kind.CUDA_FREE, MICRO);
    kernel.endRequest();

    assertThat(parents()).containsExactly(FakeKernel.SPAN_TEXT, FakeKernel.SPAN_TEXT);
    assertThat(kernel.lookups).isOne();
  }

  @Test
  void ownerWhoseBeginWasLost_isIntroducedByItsEnd() {
    kernel.hasNoOwners = true;
    kernel.happens(Kind.CUDA_INIT, MICRO);
    kernel.endRequest();

    assertThat(parents()).containsExactly(FakeKernel.SPAN_TEXT);
  }

  @Test
  void eventsOfAnUnknownOwner_areCounted() {
    kernel.hasNoOwners = true;
    for (int i = 0; i < 10; i++) {
      kernel.happens(Kind.CUDA_INIT, MICRO);
    }
    kernel.sink.flush();

    assertThat(tracing.spans()).isEmpty();
    assertThat(kernel.sink.accounting().dropped(Drop.UNKNOWN_OWNER)).isEqualTo(10);
    assertThat(kernel.sink.accounting().held()).isZero();
  }

  @Test
  void spanOnTwoThreads_isOneOwner() {
    EventBytes began =
        EventBytes.of(Kind.OWNER_BEGAN).under(SPAN).result(4).named(1, 2, 3).from(1, 1);
    kernel.happens(began).happens(kernel.event(Kind.CUDA_INIT, MICRO).under(SPAN));
    kernel.happens(began).happens(kernel.event(Kind.CUDA_INIT, MICRO).under(SPAN).by(100, 102));
    kernel.pass(2_001 * MILLI);

    assertThat(parents()).containsExactly("0000000000000003", "0000000000000003");
    assertThat(kernel.sink.openRequests()).isZero();
  }

  @Test
  void twoRequestsWithOneParent_endSeparately() {
    for (long owner = 1; owner <= 2; owner++) {
      kernel.happens(
          EventBytes.of(Kind.OWNER_BEGAN).under(owner).result(1).named(1, 2, 3).from(1, 1));
      kernel.happens(kernel.event(Kind.CUDA_INIT, MICRO).under(owner));
    }
    kernel.happens(EventBytes.of(Kind.OWNER_ENDED).under(1).result(1).named(1, 2, 3).from(1, 1));
    kernel.pass(300 * MILLI);

    assertThat(parents()).containsExactly("0000000000000003");
    assertThat(kernel.sink.openRequests()).isOne();
  }

  @Test
  void liveRequest_isFoundByItsRequestId() {
    owners.began(head(1, 100, "chatcmpl-1").view());
    owners.began(head(2, 200, "chatcmpl-1").view());

    assertThat(owners.ofRequestId(100, "chatcmpl-1")).extracting(Owner::number).isEqualTo(1L);
    assertThat(owners.ofRequestId(100, "chatcmpl-2")).isNull();
    assertThat(owners.ambiguous()).isZero();

    owners.ended(ended(1, 100).view());
    assertThat(owners.ofRequestId(100, "chatcmpl-1")).isNull();
    assertThat(owners.of(1)).isNotNull();
  }

  @Test
  void liveRequestsOfOneProcessWithOneId_areAmbiguous() {
    owners.began(head(1, 100, "same").view());
    owners.began(head(2, 100, "same").view());

    assertThat(owners.ofRequestId(100, "same")).isNull();
    assertThat(owners.ambiguous()).isOne();

    owners.ended(ended(1, 100).view());
    owners.ended(ended(2, 100).view());
    owners.began(head(3, 100, "same").view());
    assertThat(owners.ofRequestId(100, "same")).isNotNull();
  }

  @Test
  void ownersBeyondTheLimit_replaceEndedOnesFirst() {
    for (long owner = 1; owner <= 4_000; owner++) {
      owners.began(head(owner, 100, "live-" + owner).view());
    }
    for (long owner = 10_000; owner < 60_000; owner++) {
      owners.began(head(owner, 100, "done-" + owner).view());
      owners.ended(ended(owner, 100).view());
    }

    long known = 0;
    for (long owner = 1; owner <= 4_000; owner++) {
      known += owners.ofRequestId(100, "live-" + owner) == null ? 0 : 1;
    }
    assertThat(known).isGreaterThan(3_900);
    assertThat(owners.ofRequestId(100, "done-59999")).isNull();
  }

  private static EventBytes head(long owner, int tgid, String requestId) {
    return EventBytes.of(Kind.OWNER_BEGAN)
        .under(owner)
        .by(tgid, tgid)
        .result(1)
        .named(7, owner, 9)
        .requestId(requestId);
  }

  private static EventBytes ended(long owner, int tgid) {
    return EventBytes.of(Kind.OWNER_ENDED).under(owner).by(tgid, tgid).result(1).named(7, owner, 9);
  }
}
