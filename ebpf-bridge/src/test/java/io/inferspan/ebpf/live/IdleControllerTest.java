package io.inferspan.ebpf.live;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.context.SendsSignal;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The times at which probes are detached and attached again, and the thread that does it. */
class IdleControllerTest implements IdleController.Probes {

  private final List<String> done = new ArrayList<>();
  private final IdleController soon = new IdleController(1, this);
  private boolean serving;

  /** Runs in each check, after it has read the reports and before it decides. */
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
  public void beganUnseen(long owner) {
    done.add("unseen");
  }

  @Test
  void withoutARequest_sleepsOnce() {
    soon.begin();
    check(soon, 10);

    assertThat(done).containsExactly("sleep");
    assertThat(soon.isAsleep()).isTrue();
    assertThat(soon.sleeps()).isOne();
  }

  @Test
  void beforeBegin_staysAwake() {
    check(soon, 10);

    assertThat(done).isEmpty();
  }

  @Test
  void zeroTime_neverSleeps() {
    IdleController never = new IdleController(0, this);
    never.begin();
    check(never, 1_000);

    assertThat(done).isEmpty();
    assertThat(never.signal().isOn()).isFalse();
  }

  @Test
  void beforeTheTimeHasPassed_staysAwake() {
    IdleController later = new IdleController(TimeUnit.HOURS.toNanos(1), this);
    later.begin();
    check(later, 1_000);

    assertThat(done).isEmpty();
  }

  @Test
  void openRequest_keepsAwake() {
    serving = true;
    soon.begin();
    check(soon, 10);

    assertThat(done).isEmpty();
  }

  @Test
  void requestThatBeginsAndEndsBetweenTwoChecks_keepsAwakeUntilTheNext() {
    soon.begin();
    soon.signal().enable(true);
    soon.requestBegan();
    check(soon, 1);

    assertThat(done).isEmpty();
  }

  @Test
  void requestWhileAsleep_callsForACheckThatWakes() {
    soon.begin();
    check(soon, 2);
    soon.requestBegan();

    assertThat(done).containsExactly("sleep", "call");
    assertThat(soon.isAsleep()).isTrue();

    soon.check();

    assertThat(done).containsExactly("sleep", "call", "wake");
    assertThat(soon.isAsleep()).isFalse();
  }

  @Test
  void everyOwnRequestUntilTheProbesAreAttached_isNoted() {
    soon.begin();
    check(soon, 2);
    send(7);
    send(8);
    soon.check();
    send(9);

    assertThat(done).containsExactly("sleep", "unseen", "call", "unseen", "call", "wake");
  }

  @Test
  void whileAwake_oneOwnRequestPerCheckIsReported() {
    IdleController later = new IdleController(TimeUnit.HOURS.toNanos(1), this);
    later.begin();
    later.check();
    assertThat(later.signal().isOn()).isTrue();

    later.requestBegan();

    assertThat(later.signal().isOn()).isFalse();
    later.check();
    assertThat(later.signal().isOn()).isTrue();
    assertThat(done).isEmpty();
  }

  @Test
  void openRequestWhoseBeginEventWasLost_wakes() {
    soon.begin();
    check(soon, 2);
    serving = true;
    soon.check();

    assertThat(done).containsExactly("sleep", "wake");
  }

  @Test
  void requestThatBeginsDuringACheck_keepsAwake() {
    soon.begin();
    soon.signal().enable(true);
    between = soon::requestBegan;
    soon.check();

    assertThat(done).isEmpty();
    assertThat(soon.isAsleep()).isFalse();
  }

  private static void check(IdleController idle, int times) {
    for (int i = 0; i < times; i++) {
      idle.check();
    }
  }

  private void send(long span) {
    if (soon.signal().isOn()) {
      SendsSignal.send(soon.signal(), span);
    }
  }
}
