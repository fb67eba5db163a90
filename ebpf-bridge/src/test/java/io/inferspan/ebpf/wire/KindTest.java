package io.inferspan.ebpf.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;

/** The event kinds are those of {@code wire.h}. */
class KindTest {

  private static final Path HEADER = Path.of("../bpf/include/wire.h");
  private static final Pattern KIND = Pattern.compile("ISPAN_KIND_(\\w+) = (\\d+)");

  @Test
  void kinds_areThoseOfTheHeader() throws Exception {
    Assumptions.assumeTrue(Files.exists(HEADER), "bpf/include/wire.h is not next to this module");
    List<String> inHeader = new ArrayList<>();
    Matcher matcher = KIND.matcher(Files.readString(HEADER));
    while (matcher.find()) {
      inHeader.add(matcher.group(2) + " " + matcher.group(1));
    }

    List<String> ours = new ArrayList<>();
    for (Kind kind : Kind.values()) {
      ours.add(kind.number() + " " + kind.name().replaceFirst("^SYSCALL_", ""));
    }
    assertThat(ours).containsExactlyInAnyOrderElementsOf(inHeader);
  }

  @Test
  void kind_isFoundByItsNumber() {
    for (Kind kind : Kind.values()) {
      assertThat(Kind.of(kind.number())).isSameAs(kind);
    }
    assertThat(IntStream.range(-10, 70_000).filter(number -> Kind.of(number) != null).count())
        .isEqualTo(Kind.values().length);
  }

  @Test
  void resultsThatAskToRetry_areNotFailures() {
    assertThat(Family.SYSCALL.failed(-2)).isTrue();
    assertThat(Family.SYSCALL.failed(-11)).isFalse();
    assertThat(Family.SYSCALL.failed(-512)).isFalse();
    assertThat(Family.SYSCALL.failed(4096)).isFalse();
    assertThat(Family.CUDA.failed(35)).isTrue();
    assertThat(Family.CUDA.failed(600)).isFalse();
    assertThat(Family.NCCL.failed(3)).isTrue();
    assertThat(Family.SCHED.failed(-1)).isFalse();
  }

  @Test
  void unknownNumbersOfSourcesAndDescriptors_areUnknown() {
    assertThat(Source.of(200)).isEqualTo(Source.UNKNOWN);
    assertThat(Source.of(1).word()).isEqualTo("own_thread");
    assertThat(FdKind.of(-1)).isEqualTo(FdKind.UNKNOWN);
    assertThat(FdKind.of(2).word()).isEqualTo("inet");
  }
}
