package io.inferspan.ebpf;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.context.RingsBell;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** When probes are taken off and put back, and by whom. */
class VigilTest implements Vigil.Probes {

  private final List<String> done = new ArrayList<>();
  private final Vigil soon = new Vigil(1, this);
  private boolean serving;

  /** Happens after it was asked who has been heard, and before anything is decided. */
  private Runnable between = () -> {};

  @Override
  public boolean areServing() {
    between.run();
    return serving;
  }

  @Override
  public void sleep() {
    done.add("sleep");
  }

  @Override
  public void wake() {
    done.add("wake");
  }

  @Override
  public void callSoon() {
    done.add("call");
  }

  @Override
  public void beganUnseen(long traceIdHigh, long traceIdLow, long spanId) {
    done.add("unseen " + spanId);
  }

  @Test
  void nobodyHeard_sleepsOnce() {
    soon.begin();
    look(soon, 10);

    assertThat(done).containsExactly("sleep");
    assertThat(soon.isAsleep()).isTrue();
    assertThat(soon.sleeps()).isOne();
  }

  @Test
  void beforeItBegins_nothingSleeps() {
    look(soon, 10);

    assertThat(done).isEmpty();
  }

  @Test
  void zero_isNever() {
    Vigil never = new Vigil(0, this);
    never.begin();
    look(never, 1_000);

    assertThat(done).isEmpty();
    assertThat(never.bell().isHeard()).isFalse();
  }

  @Test
  void shorterThanTheTime_staysAwake() {
    Vigil later = new Vigil(TimeUnit.HOURS.toNanos(1), this);
    later.begin();
    look(later, 1_000);

    assertThat(done).isEmpty();
  }

  @Test
  void requestUnderWay_keepsAwake() {
    serving = true;
    soon.begin();
    look(soon, 10);

    assertThat(done).isEmpty();
  }

  @Test
  void requestThatBeginsAndEndsBetweenTwoLooks_keepsAwakeForOneMore() {
    soon.begin();
    soon.bell().listen(true);
    soon.heard();
    look(soon, 1);

    assertThat(done).isEmpty();
  }

  @Test
  void requestThatBegins_callsAndIsWokenFor() {
    soon.begin();
    look(soon, 2);
    soon.heard();

    assertThat(done).containsExactly("sleep", "call");
    assertThat(soon.isAsleep()).isTrue();

    soon.look();

    assertThat(done).containsExactly("sleep", "call", "wake");
    assertThat(soon.isAsleep()).isFalse();
  }

  @Test
  void everyOwnRequestUntilTheProbesAreOn_isNoted() {
    soon.begin();
    look(soon, 2);
    ring(7);
    ring(8);
    soon.look();
    ring(9);

    assertThat(done).containsExactly("sleep", "unseen 7", "call", "unseen 8", "call", "wake");
  }

  @Test
  void whileAwake_oneOwnRequestALookIsHeard() {
    Vigil later = new Vigil(TimeUnit.HOURS.toNanos(1), this);
    later.begin();
    later.look();
    assertThat(later.bell().isHeard()).isTrue();

    later.heard();

    assertThat(later.bell().isHeard()).isFalse();
    later.look();
    assertThat(later.bell().isHeard()).isTrue();
    assertThat(done).isEmpty();
  }

  /** The announcement was lost, as the ring was full. */
  @Test
  void requestThatWasNotHeardToBegin_isWokenForAllTheSame() {
    soon.begin();
    look(soon, 2);
    serving = true;
    soon.look();

    assertThat(done).containsExactly("sleep", "wake");
  }

  @Test
  void requestThatBeginsWhileItIsDecided_keepsAwake() {
    soon.begin();
    soon.bell().listen(true);
    between = soon::heard;
    soon.look();

    assertThat(done).isEmpty();
    assertThat(soon.isAsleep()).isFalse();
  }

  private static void look(Vigil vigil, int times) {
    for (int i = 0; i < times; i++) {
      vigil.look();
    }
  }

  private void ring(long span) {
    if (soon.bell().isHeard()) {
      RingsBell.ring(soon.bell(), span);
    }
  }
}
