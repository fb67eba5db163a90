package io.inferspan.ebpf.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WatchedFunctionsTest {

  private final WatchedFunctions watched =
      WatchedFunctions.of("libcuda\tcuInit\t0x100000e\nlibcudart\tcudaMalloc\t0xff");

  @ParameterizedTest
  @ValueSource(
      strings = {
        "libcuda.so",
        "libcuda.so.1",
        "libcuda.so.580.65.06",
        "libcudart-d0da41ae.so.11.0"
      })
  void libraryOfAnyDistribution_isWatched(String fileName) {
    assertThat(watched.watches(fileName)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"libcudadebugger.so.1", "libcuda.a", "libcuda", "libcuda.so1", "", "python"})
  void otherFile_isNotWatched(String fileName) {
    assertThat(watched.watches(fileName)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"libcuda cuInit 0x1", "libcuda\tcuInit\t12", "libcuda\tcuInit", "x"})
  void brokenTable_isRefused(String line) {
    assertThatThrownBy(() -> WatchedFunctions.of(line))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("not a line of library, function and cookie: " + line);
  }
}
