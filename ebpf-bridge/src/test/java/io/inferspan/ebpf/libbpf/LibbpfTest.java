package io.inferspan.ebpf.libbpf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.ebpf.libbpf.feature.KernelFeature;
import io.inferspan.ebpf.libbpf.feature.KernelFeatures;
import io.inferspan.ebpf.linux.OpenFiles;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;

class LibbpfTest {

  @Test
  void libbpf_isLoadedOnce() {
    TestObjects.assumeLibbpf();
    assertThat(Libbpf.load()).isSameAs(Libbpf.load());
    assertThat(Libbpf.load().version()).matches("v?1\\.\\d+.*");
    assertThat(Libbpf.load().possibleCpus()).isPositive();
  }

  @Test
  void absentLibrary_isReportedWithARemedy() {
    assertThatThrownBy(() -> Libbpf.open("libinferspan-absent.so.1"))
        .isInstanceOf(BpfException.class)
        .hasMessageStartingWith("libbpf is missing: libinferspan-absent.so.1 was not found")
        .hasMessageContaining("install libbpf 1.0 or newer");
  }

  @Test
  void libraryWithoutTheFunctions_isTooOld() {
    assertThatThrownBy(() -> Libbpf.open("libm.so.6"))
        .isInstanceOf(BpfException.class)
        .hasMessageStartingWith("libbpf is too old: it has no bpf_object__open_mem: install");
  }

  @Test
  void concurrentFailures_eachHaveTheLogOfTheirObject() throws InterruptedException {
    TestObjects.assumeBpf();
    ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
    List<Thread> threads = new ArrayList<>();
    for (String name : List.of("null_lookup", "divide_by_zero", "write_to_context")) {
      threads.add(Thread.ofPlatform().start(() -> refuse(name, wrong)));
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(wrong).isEmpty();
  }

  @Test
  void probes_leaveNothingOpen() throws IOException {
    KernelFeatures.probe();
    int before = OpenFiles.count();
    KernelFeatures.probe();

    assertThat(OpenFiles.count()).isEqualTo(before);
  }

  @Test
  void root_hasTheFeaturesOfThisKernel() {
    TestObjects.assumeBpf();
    KernelFeatures features = KernelFeatures.probe();

    assertThat(features.has(KernelFeature.MAPS)).isTrue();
    assertThat(features.has(KernelFeature.PROGRAMS)).isTrue();
    assertThat(features.has(KernelFeature.PERF_UPROBES)).isTrue();
  }

  private static void refuse(String name, ConcurrentLinkedQueue<String> wrong) {
    for (int i = 0; i < 20; i++) {
      try (BpfObject bad = TestObjects.open(name)) {
        bad.load();
        wrong.add(name + " was loaded");
      } catch (BpfException refused) {
        if (!refused.log().contains("prog '" + name + "'")) {
          wrong.add(refused.log());
        }
      }
    }
  }
}
