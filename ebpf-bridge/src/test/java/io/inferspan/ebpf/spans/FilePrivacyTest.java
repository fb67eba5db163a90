package io.inferspan.ebpf.spans;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.wire.EventBytes;
import io.inferspan.ebpf.wire.Kind;
import io.inferspan.ebpf.wire.Layout;
import io.inferspan.testing.SpanRecord;
import io.inferspan.testing.TracingExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Texts from observed processes, which spans contain only if reduced or cleaned. */
class FilePrivacyTest {

  @RegisterExtension final TracingExtension tracing = TracingExtension.create();

  @ParameterizedTest
  @CsvSource({
    "/usr/lib/x86_64-linux-gnu/libcuda.so.1, system, so",
    "/usr/lib/libnccl.so.2.22.3, system, so",
    "/etc/passwd, config, none",
    "/home/alice/prompt about my illness.txt, home, txt",
    "/root/.ssh, home, none",
    "/home/alice/.env, home, none",
    "/tmp/a.canary-7f, temporary, other",
    "/proc/1/status, kernel, none",
    "/dev/nvidia0, device, none",
    "/models/m/model-00001.safetensors, data, safetensors",
    "/models, other, none",
    "/alice/x.json, other, json",
    "weights.bin, relative, bin",
    "/, other, none",
    "/data/a.1.2.3, data, other",
    "/data/x., data, other",
    "/data/v1.2/file, data, none",
    "'', none, none"
  })
  void path_isReducedToWordsFromClosedLists(String path, String place, String extension) {
    open(FoldOptions.defaults(), path);

    SpanRecord span = tracing.spans().get(0);
    assertThat(span.attributes())
        .containsEntry("inferspan.ebpf.file.place", place)
        .containsEntry("inferspan.ebpf.file.extension", extension)
        .doesNotContainKey("file.path");
    assertThat(span.toString()).doesNotContain("alice", "canary", "illness", "passwd");
  }

  @Test
  void allowedPath_hasOnlyVisibleAscii() {
    open(FoldOptions.defaults().withPaths(true), "/tmp/a\nb\u0007\u00e9.json");

    assertThat(tracing.spans().get(0).attributes())
        .containsEntry("file.path", "/tmp/a?b??.json")
        .containsEntry("inferspan.ebpf.file.extension", "json");
  }

  @Test
  void truncatedPath_endsWithAnEllipsisAndHasNoKnownExtension() {
    FakeKernel kernel = new FakeKernel(tracing, FoldOptions.defaults().withPaths(true));
    String begin = "/models/" + "a".repeat(116) + ".so";
    kernel.happens(open(kernel, begin).known(2, Layout.FLAG_TEXT_CUT));
    kernel.sink.flush();

    assertThat(tracing.spans().get(0).attributes())
        .containsEntry("file.path", begin + "...")
        .containsEntry("inferspan.ebpf.file.place", "data")
        .containsEntry("inferspan.ebpf.file.extension", "other");
  }

  @Test
  void nameOfAnOperation_isTruncatedAndCleaned() {
    FakeKernel kernel = new FakeKernel(tracing, FoldOptions.defaults());
    kernel.happens(
        kernel.event(Kind.CKP_OPERATION, 5).text("prefill\u001b[31m " + "x".repeat(100)));
    kernel.sink.flush();

    assertThat((String) tracing.spans().get(0).attribute("inferspan.ebpf.ckp.operation"))
        .startsWith("prefill?[31m xxx")
        .hasSize(64);
  }

  @Test
  void reducedPaths_areFoldedTogether() {
    FakeKernel kernel = new FakeKernel(tracing, FoldOptions.defaults());
    for (int i = 0; i < 20; i++) {
      kernel.happens(open(kernel, "/models/part-" + i + (i % 2 == 0 ? ".bin" : ".json")));
    }
    kernel.sink.flush();

    assertThat(tracing.spans())
        .filteredOn(span -> span.attribute("inferspan.ebpf.count") != null)
        .extracting(span -> span.attribute("inferspan.ebpf.file.extension"))
        .containsExactlyInAnyOrder("bin", "json");
  }

  private void open(FoldOptions options, String path) {
    FakeKernel kernel = new FakeKernel(tracing, options);
    kernel.happens(open(kernel, path));
    kernel.sink.flush();
  }

  private static EventBytes open(FakeKernel kernel, String path) {
    return kernel.event(Kind.SYSCALL_OPENAT, 5).result(3).text(path);
  }
}
