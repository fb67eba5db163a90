package io.inferspan.ebpf.probe;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.Eventually;
import io.inferspan.ebpf.probe.ProcessScope.Choice;
import io.inferspan.ebpf.probe.ProcessWatch.Change;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Simulated processes that start and exit, and the resulting contents of the kernel's table. */
class ProcessWatchTest {

  private static final int SERVER = 41;

  @TempDir private Path proc;

  private final Table table = new Table();

  @SuppressWarnings("NullAway.Init") // every test starts it
  private ProcessWatch watch;

  @AfterEach
  void close() {
    watch.close();
  }

  @Test
  void selectedProcess_isInTheTableUntilItExits() throws IOException {
    born(SERVER, "python3");
    born(42, "bash");
    start();
    assertThat(table.pids).containsExactly(SERVER);

    dies(SERVER);
    watch.note(Change.EXITED, SERVER);

    Eventually.is("the end", table.pids::isEmpty);
  }

  @Test
  void processThatExitsWhileItIsExamined_leavesNoEntry() {
    table.onAdd =
        pid -> {
          // The kernel had nothing to remove yet, and the exit was not queued.
          dies(pid);
          watch.note(Change.EXITED, pid);
        };
    start();

    born(SERVER, "python3");
    watch.note(Change.STARTED, SERVER);

    Eventually.is("the process in the table", () -> table.adds > 0);
    Eventually.is("an empty table", table.pids::isEmpty);
  }

  @Test
  void processThatExitsAtOnce_isNotExamined() {
    start();
    for (int pid = 1_000; pid < 1_200; pid++) {
      born(pid, "python3");
      watch.note(Change.STARTED, pid);
      watch.note(Change.EXITED, pid);
    }
    born(SERVER, "python3");
    watch.note(Change.STARTED, SERVER);

    Eventually.is("the server", () -> table.pids.contains(SERVER));
    assertThat(table.adds).isLessThan(200);
  }

  @Test
  void processWhoseExitIsNotReported_leavesNoEntry() throws IOException {
    born(SERVER, "python3");
    start();

    dies(SERVER);

    Eventually.is("the end", table.pids::isEmpty);
  }

  @Test
  void errorAtOneProcess_isCountedAndTheNextIsAdded() {
    table.onAdd =
        pid -> {
          if (pid == 42) {
            throw new LinkageError("no");
          }
        };
    start();

    born(42, "python3");
    watch.note(Change.STARTED, 42);
    Eventually.is("the failure", () -> watch.failures() > 0);
    born(SERVER, "python3");
    watch.note(Change.STARTED, SERVER);

    Eventually.is("the next", () -> table.pids.contains(SERVER));
  }

  @Test
  void failedHousekeeping_isCountedAndProcessesAreStillFound() throws IOException {
    start(
        () -> {
          throw new IllegalStateException("no");
        });

    born(SERVER, "python3");

    Eventually.is("a child without an event", () -> table.pids.contains(SERVER));
    assertThat(watch.failures()).isPositive();
  }

  @Test
  void fullTable_isCounted() throws IOException {
    table.full = true;
    born(SERVER, "python3");
    start();

    assertThat(watch.refusals()).isOne();
    assertThat(watch.failures()).isZero();
  }

  private void start() {
    start(() -> {});
  }

  private void start(Runnable housekeeping) {
    ProcessScope scope = new ProcessScope(new Choice(false, Set.of(), Set.of("python3"), ""), proc);
    watch =
        ProcessWatch.start(scope, new ProcessWatch.Parts(List.of(), table, housekeeping, false, 0));
    assertThat(watch.awaitFirstScan(Duration.ofSeconds(20))).isTrue();
  }

  private void born(int pid, String name) {
    try {
      Path directory = Files.createDirectories(proc.resolve(Integer.toString(pid)));
      Files.writeString(directory.resolve("comm"), name + "\n");
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private void dies(int pid) {
    try {
      Files.deleteIfExists(proc.resolve(pid + "/comm"));
      Files.deleteIfExists(proc.resolve(Integer.toString(pid)));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** A simulated table of the kernel. */
  private static final class Table implements ProcessWatch.Targets {

    private final Set<Integer> pids = ConcurrentHashMap.newKeySet();
    private volatile IntConsumer onAdd = pid -> {};
    private volatile boolean full;
    private volatile int adds;

    @Override
    public synchronized boolean add(int pid) {
      onAdd.accept(pid);
      if (full) {
        return false;
      }
      pids.add(pid);
      adds++;
      return true;
    }

    @Override
    public void remove(int pid) {
      pids.remove(pid);
    }
  }
}
