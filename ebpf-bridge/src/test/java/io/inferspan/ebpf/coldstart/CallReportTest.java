package io.inferspan.ebpf.coldstart;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.wire.Family;
import io.inferspan.ebpf.wire.Kind;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The tables, on a file whose figures are known. */
class CallReportTest {

  private static final long MILLI = 1_000_000;
  private static final long LAUNCH = 1003;

  private final List<CallRecord> records = new ArrayList<>();

  @Test
  void report_countsAddsAndRanks() {
    for (int i = 0; i < 100; i++) {
      call(7, 7, 0, 10L * i * MILLI, (10L * i + 1) * MILLI);
    }
    for (int i = 0; i < 4; i++) {
      call(7, 8, LAUNCH, (2 + 10L * i) * MILLI, (2 + 10L * i) * MILLI + 4_200);
    }
    call(7, 8, LAUNCH, 102 * MILLI, 602 * MILLI);
    call(9, 9, 257, 0, 1000 * MILLI); // overlaps all others
    records.add(new CallRecord(5, 7, 8, 9, false, 0)); // an entry without its exit
    records.add(new CallRecord(6, 7, 8, 3, true, 0)); // an exit without its entry

    String report = CallReport.of(records, 500).replaceAll(" +", " ");

    assertThat(report)
        .contains("214 records, 106 calls of 2 processes and 3 threads in 1.000 s")
        .contains("read 100 100.00 10.0% 1,000.0 1,000.0 1,000.0 1.00 0")
        .contains("cuLaunchKernel 5 500.02 50.0% 4.2 500,000.0 500,000.0 500.00 0")
        .contains("mmap 0 0.00 0.0% 0.0 0.0 0.0 0.00 1")
        .contains("close 0 0.00 0.0% 0.0 0.0 0.0 0.00 1")
        .contains("all system calls 101 1,100.00 110.0%")
        .contains("between calls 0.00 0.0%")
        .contains(
            "500.00 ms cuLaunchKernel, call 5 of 5, 0.102 s after the first record, process 7")
        .contains(
            "after cuLaunchKernel (4.2 us), 69,995.8 us apart; meanwhile in the process: read=50;")
        .contains(
            "CALLS THAT BEGAN IN EACH 500 ms\n s read openat cuLaunchKernel\n 0.000 50 1 5\n");
  }

  @Test
  void betweenCalls_isTheTimeWithoutAnyCall() {
    call(1, 1, 0, 0, 100 * MILLI);
    call(1, 2, 0, 50 * MILLI, 150 * MILLI);
    call(1, 1, 0, 900 * MILLI, 1000 * MILLI);

    assertThat(CallReport.of(records, 0)).containsPattern("between calls +750.00 +75.0%");
  }

  @Test
  void emptyFile_isNoError() {
    assertThat(CallReport.of(List.of(), 100)).startsWith("0 records, 0 calls");
  }

  @Test
  void compare_setsTwoFilesSideBySide() {
    call(1, 1, LAUNCH, 0, 10 * MILLI);
    List<CallRecord> before = List.copyOf(records);
    call(1, 1, LAUNCH, 20 * MILLI, 30 * MILLI);
    call(1, 1, 1000, 35 * MILLI, 40 * MILLI);

    assertThat(CallReport.compare(before, records).replaceAll(" +", " "))
        .contains("cuInit 0 1 - 0.00 5.00 - 0.0 5,000.0 -")
        .contains("cuLaunchKernel 1 2 2.00 10.00 20.00 2.00 10,000.0 10,000.0 1.00")
        .contains("between calls 0.00 15.00 -")
        .contains("wall 10.00 40.00 4.00");
  }

  @Test
  void everyKindOfCall_hasItsOwnNumber() {
    List<Kind> calls =
        List.of(Kind.values()).stream()
            .filter(
                kind ->
                    kind.family() == Family.CUDA
                        || kind.family() == Family.NCCL
                        || kind.family() == Family.SYSCALL)
            .toList();

    assertThat(calls).extracting(CallIds::of).doesNotContainNull().doesNotHaveDuplicates();
    assertThat(CallIds.of(Kind.SCHED_OFFCPU)).isNull();
    assertThat(CallIds.name(17)).isEqualTo("pread64");
    assertThat(CallIds.name(2000)).isEqualTo("call 2000");
  }

  private void call(long pid, long tid, long id, long start, long end) {
    records.add(new CallRecord(start, pid, tid, id, false, 0));
    records.add(new CallRecord(end, pid, tid, id, true, 0));
  }
}
