package io.inferspan.ebpf.coldstart;

import static io.inferspan.ebpf.coldstart.Phase.ALLOCATION;
import static io.inferspan.ebpf.coldstart.Phase.DEVICE_INIT;
import static io.inferspan.ebpf.coldstart.Phase.GRAPH_CAPTURE;
import static io.inferspan.ebpf.coldstart.Phase.IMPORTS;
import static io.inferspan.ebpf.coldstart.Phase.PAGE_FAULTS;
import static io.inferspan.ebpf.coldstart.Phase.PROCESS_START;
import static io.inferspan.ebpf.coldstart.Phase.WARM_UP;
import static io.inferspan.ebpf.coldstart.Phase.WEIGHTS;
import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.coldstart.Observation.Event;
import io.inferspan.ebpf.coldstart.Phase.Evidence;
import io.inferspan.ebpf.coldstart.PhaseTimeline.Interval;
import io.inferspan.ebpf.coldstart.PhaseTimeline.Summary;
import io.inferspan.ebpf.coldstart.Readiness.Cause;
import io.inferspan.ebpf.coldstart.Readiness.Ready;
import io.inferspan.ebpf.coldstart.StackEvents.Collected;
import io.inferspan.ebpf.wire.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Which calls show which phase, and how the wall time is divided among phases and gaps. */
class PhasesTest {

  private static final int PID = 7;
  private static final long DISK = 2;
  private static final long KILLABLE = 0x100;

  private final List<Event> events = new ArrayList<>();
  private long now;

  @Test
  void filesAndCalls_showTheirPhase() {
    add(Kind.PROCESS_STARTED, 0, 0, "/usr/bin/python3");
    open("/lib/x86_64-linux-gnu/libc.so.6", 3);
    open("/etc/hosts", 3);
    open("/usr/lib/python3/json/__pycache__/decoder.cpython-312.pyc", 3);
    open("/usr/lib/python3/lib-dynload/_json.cpython-312-x86_64-linux-gnu.so", 3);
    open("/models/a/model-00001-of-00002.safetensors", 4);
    add(Kind.SYSCALL_READ, 0, 4L << 32, "");
    add(Kind.SYSCALL_READ, 0, 5L << 32, ""); // another file
    add(Kind.SCHED_OFFCPU, 0, DISK, ""); // nothing is mapped yet
    add(Kind.SYSCALL_MMAP, 0, 4, "");
    add(Kind.SCHED_OFFCPU, 0, DISK, "");
    add(Kind.SCHED_OFFCPU, 0, DISK | KILLABLE, "");
    add(Kind.SCHED_OFFCPU, 0, 1, ""); // sleeps
    add(Kind.SYSCALL_CLOSE, 0, 4L << 32, "");
    add(Kind.SYSCALL_READ, 0, 4L << 32, ""); // the descriptor was reused
    open("/dev/nvidia0", 5);
    add(Kind.CUDA_INIT, 0, 0, "");
    add(Kind.CUDA_ALLOC, 0, 0, "");
    add(Kind.CUDA_MEMCPY_H2D, 0, 0, "");
    add(Kind.CUDA_LAUNCH, 0, 0, "");
    add(Kind.CUDA_CAPTURE_BEGIN, 0, 0, "");
    add(Kind.SYSCALL_OPENAT, -2, 0, "/models/a/none.safetensors"); // there is no such file
    add(Kind.PROCESS_STARTED, 0, 0, "/usr/bin/nvidia-smi");
    open("/lib/x86_64-linux-gnu/libm.so.6", 3);

    assertThat(Phase.evidence(events))
        .extracting(Evidence::phase)
        .containsExactly(
            PROCESS_START,
            PROCESS_START,
            IMPORTS,
            IMPORTS,
            WEIGHTS,
            WEIGHTS,
            WEIGHTS,
            PAGE_FAULTS,
            PAGE_FAULTS,
            WEIGHTS,
            DEVICE_INIT,
            DEVICE_INIT,
            ALLOCATION,
            WEIGHTS,
            WARM_UP,
            GRAPH_CAPTURE,
            PROCESS_START,
            PROCESS_START);
  }

  @Test
  void timeBetweenEvidence_isItsPhase_orAGapWhereItIsLong() {
    PhaseTimeline timeline =
        new PhaseTimeline(
            List.of(
                new Evidence(PROCESS_START, 1000, 1000),
                new Evidence(IMPORTS, 1010, 1100),
                new Evidence(WEIGHTS, 1050, 1060), // within the one before
                new Evidence(IMPORTS, 1110, 1200),
                new Evidence(WARM_UP, 1600, 2500)), // the server is ready earlier
            1000,
            2000);

    assertThat(timeline.intervals())
        .containsExactly(
            new Interval(PROCESS_START, 1000, 1010),
            new Interval(IMPORTS, 1010, 1100),
            new Interval(WEIGHTS, 1100, 1110),
            new Interval(IMPORTS, 1110, 1200),
            new Interval(null, 1200, 1600),
            new Interval(WARM_UP, 1600, 2000));
    assertThat(timeline.phases().get(IMPORTS)).isEqualTo(new Summary(1010, 1200, 180, 2));
    assertThat(timeline.gaps()).containsExactly(new Interval(null, 1200, 1600));
  }

  @Test
  void phasesAndGaps_addUpToTheWall() {
    Random random = new Random(3);
    List<Phase> phases = List.of(Phase.values());
    for (int round = 0; round < 300; round++) {
      List<Evidence> evidence = new ArrayList<>();
      long from = 0;
      for (int i = 0; i < 40; i++) {
        from += random.nextInt(60);
        Phase phase = phases.get(random.nextInt(phases.size()));
        evidence.add(new Evidence(phase, from, from + random.nextInt(90)));
      }
      PhaseTimeline timeline = new PhaseTimeline(evidence, 100, 1000);

      long inPhases = timeline.phases().values().stream().mapToLong(Summary::nanos).sum();
      long gaps = timeline.gaps().stream().mapToLong(Interval::nanos).sum();
      assertThat(inPhases + gaps).isEqualTo(timeline.wallNanos());
    }
  }

  @Test
  void start_beginsWhereTheShellBecomesTheCommand_andEndsWhenItIsReady() {
    now = 100;
    open("/bin/sh.so", 3); // opened by the shell
    add(Kind.PROCESS_STARTED, 0, 0, "/usr/bin/python3");
    long began = now;
    open("/lib/libc.so.6", 3);
    events.add(new Event(Kind.PROCESS_STARTED, 99, 99, 150, 150, 0, 0, 0, "/bin/other"));

    ColdStart start =
        new ColdStart(
            events,
            new Collected(List.of(), List.of()),
            new ColdStart.Outcome(PID, 100, new Ready(Cause.URL, 5000), 0, 0, Map.of()));

    assertThat(start.phases().startNanos()).isEqualTo(began);
    assertThat(start.phases().endNanos()).isEqualTo(5000);
    assertThat(start.records()).hasSize(2);
    assertThat(ColdStartText.of(start))
        .startsWith("ready (its URL answered) after 0.000 s, 1 process;");
  }

  private void open(String path, int fd) {
    add(Kind.SYSCALL_OPENAT, fd, 0, path);
  }

  private void add(Kind kind, int result, long detail, String text) {
    now += 10;
    events.add(new Event(kind, PID, PID, now, now + 5, result, detail, 0, text));
    now += kind == Kind.PROCESS_STARTED ? 0 : 5;
  }
}
