package io.inferspan.ebpf.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.Telemetry;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Steps of a process in which a profiler reads CUPTI's records. */
class KernelTimesTest {

  private static final int PID = 7;
  private static final long MILLI = 1_000_000;
  private static final long READ = 100 * MILLI;

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  private final Batches batches = create();

  private Batches create() {
    return new Batches(
        ShareModel.EQUAL,
        1_000,
        new BatchWriter(
            Telemetry.using(tracing.openTelemetry()),
            ShareModel.EQUAL,
            nanos -> nanos,
            any -> null),
        (from, to) -> false);
  }

  /**
   * Runs a step of one request and two launches; {@link #done} reports that the device finished it.
   */
  private void launch(long number, long atMillis) {
    long[] change = {1 | 1L << 32};
    batches.stepBegan(PID, number, new Changes(change, 1, false), atMillis * MILLI);
    batches.launched(PID, atMillis * MILLI);
    batches.launched(PID, atMillis * MILLI + 1);
    batches.recorded(PID, number);
    batches.stepEnded(PID, number, 2, atMillis * MILLI + 2);
  }

  private void done(long number, long atMillis) {
    batches.eventReached(PID, number, atMillis * MILLI);
  }

  private void ran(long correlation, double fromMillis, double toMillis) {
    batches.ran(PID, correlation, (long) (fromMillis * MILLI), (long) (toMillis * MILLI), READ);
  }

  private List<Object> measured() {
    batches.expire(READ + 20_000 * MILLI);
    return tracing.spans().stream()
        .filter(span -> span.name().equals("llm_d.engine.step"))
        .map(SpanRecord::attributes)
        .<Object>map(of -> of.get("busy.ms") + " " + of.get("busy.source"))
        .toList();
  }

  @Test
  void everyLaunchHasKernels_busyIsTheTimeInWhichOneRan() {
    ran(1, 1, 2); // An earlier record, so that steps wait for records.
    launch(1, 10);
    done(1, 20);
    ran(6, 13, 15);
    ran(3, 11, 13);
    ran(6, 14, 16); // A second kernel of the same launch, which overlaps the first one.

    assertThat(tracing.spans()).isEmpty();
    assertThat(measured()).containsExactly("5.0 cupti");
  }

  @Test
  void kernelIsMissing_hostWindowIsUsed() {
    ran(1, 1, 2);
    launch(1, 10);
    done(1, 20);
    ran(3, 11, 13);
    launch(2, 30);
    done(2, 40);
    ran(6, 31, 33);
    ran(9, 33, 34);

    assertThat(measured()).containsExactly("10.0 host_window", "3.0 cupti");
  }

  @Test
  void kernelOfAnUnknownLaunch_hostWindowIsUsed() {
    ran(1, 1, 2);
    launch(1, 10);
    done(1, 20);
    ran(3, 11, 13);
    ran(6, 13, 15);
    ran(9, 15, 16);

    assertThat(measured()).containsExactly("10.0 host_window");
  }

  @Test
  void stepsInFlight_divideTheTimeWhenTheHostSawTheFirstDone() {
    ran(1, 1, 2);
    launch(1, 10);
    launch(2, 12);
    ran(3, 11, 13);
    ran(6, 13, 15);
    ran(9, 15, 18); // A kernel of the second step, before the host sees the first step done.
    done(1, 16);
    ran(12, 18, 19);
    done(2, 20);

    assertThat(measured()).containsExactly("5.0 cupti", "3.0 cupti");
  }

  @Test
  void stepsInFlight_oneLacksAKernel_hostWindowIsUsedForBoth() {
    ran(1, 1, 2);
    launch(1, 10);
    launch(2, 12);
    ran(3, 11, 13); // The other launch's kernel is missing.
    done(1, 16);
    ran(9, 16.5, 18);
    ran(12, 18, 19);
    done(2, 20);

    assertThat(measured()).containsExactly("6.0 host_window", "4.0 host_window");
  }

  @Test
  void recordsAfterTenSeconds_areIgnored() {
    launch(1, 10);
    done(1, 20);
    ran(3, 11, 13);
    ran(6, 13, 15);

    assertThat(measured()).containsExactly("10.0 host_window");
  }

  @Test
  void kernelsOfAnotherTime_hostWindowIsUsed() {
    ran(1, 1, 2);
    launch(1, 10);
    done(1, 20);
    ran(3, 1_011, 1_013);
    ran(6, 1_013, 1_015);

    assertThat(measured()).containsExactly("10.0 host_window");
  }
}
