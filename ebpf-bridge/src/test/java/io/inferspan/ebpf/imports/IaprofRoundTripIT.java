package io.inferspan.ebpf.imports;

import static org.assertj.core.api.Assertions.assertThat;

import io.inferspan.ebpf.flame.FoldedText;
import io.inferspan.ebpf.flame.StackCounts;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Profiles in iaprof's format, compared with the output of a script like iaprof's own. Unlike that,
 * it writes the names of stall reasons, and does not lose reasons after a count of zero.
 */
class IaprofRoundTripIT {

  private static final String FOLD =
      """
      BEGIN {
        FS = "\\t"
        n = split("active control pipestall send dist_acc sbid sync inst_fetch other tdr", reason, " ")
      }
      $1 == "string" { text[$2] = $3 }
      $1 == "kernel" { kernel = text[$3] ";" $4 ";" text[$5] ";-;" text[$6] "_[G];" text[$7] "_[G]" }
      $1 == "eustall" {
        for (i = 1; i <= n; i++)
          if ($(i + 3) > 0)
            sum[kernel ";" text[$3] "_[g];" reason[i] "_[g];" $2 "_[g]"] += $(i + 3)
      }
      END { for (stack in sum) print stack " " sum[stack] }
      """;

  @TempDir private Path directory;

  @Test
  void foldedStacks_areThoseOfTheScript_andStayTheSame() throws Exception {
    Random random = new Random(7);
    for (int round = 0; round < 20; round++) {
      Path profile = Files.writeString(directory.resolve("profile.txt"), profile(random));

      StackCounts read = StackFile.read(profile);

      assertThat(read.sorted()).isNotEmpty().isEqualTo(byScript(profile));
      Path folded = Files.writeString(directory.resolve("a.folded"), text(read));
      assertThat(text(StackFile.read(folded))).isEqualTo(text(read));
    }
  }

  private Map<String, Long> byScript(Path profile) throws Exception {
    Process awk = new ProcessBuilder("awk", FOLD, profile.toString()).start();
    String output = new String(awk.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(awk.waitFor()).isZero();
    Map<String, Long> stacks = new TreeMap<>();
    output
        .lines()
        .forEach(
            line -> {
              int blank = line.lastIndexOf(' ');
              stacks.put(line.substring(0, blank), Long.valueOf(line.substring(blank + 1)));
            });
    return stacks;
  }

  private static String text(StackCounts counts) throws IOException {
    StringWriter text = new StringWriter();
    FoldedText.write(counts, text);
    return text.toString();
  }

  /**
   * Returns a profile in the current format, with several intervals that repeat kernels and
   * instructions.
   */
  private static String profile(Random random) {
    StringBuilder text = new StringBuilder();
    List<String> strings =
        List.of(
            "python3.11",
            "_start;main;launch",
            "0x7f00;main;zeCommandListAppendLaunchKernel",
            "gemm.cl",
            "gemm",
            "softmax<float, 4>",
            "mad (8) r10.0<1>:f",
            "send.ugm (16) null");
    for (int i = 0; i < strings.size(); i++) {
      text.append("string\t%d\t%s\n".formatted(i + 1, strings.get(i)));
    }
    for (int interval = 0; interval < 3; interval++) {
      text.append("interval\t%d\t12.%06d\n".formatted(interval, interval * 10_000));
      for (int kernel = 0; kernel <= random.nextInt(3); kernel++) {
        text.append(
            "kernel\t0x%x\t1\t%d\t%d\t4\t%d\n"
                .formatted(
                    0xffff80 + kernel,
                    4711 + random.nextInt(2),
                    2 + random.nextInt(2),
                    5 + random.nextInt(2)));
        for (int line = 0; line <= random.nextInt(4); line++) {
          text.append("eustall\t0x%x\t%d".formatted(16 * random.nextInt(4), 7 + random.nextInt(2)));
          for (int reason = 0; reason < 10; reason++) {
            text.append('\t').append(random.nextInt(3) == 0 ? random.nextInt(50) : 0);
          }
          text.append('\n');
        }
      }
      text.append("metric\tfrequency-MHz\t1550\n");
    }
    return text.append(
            "kernel\t0x1\t1\t1\t2\t4\t5\neustall\t0x0\t7\t1\t0\t0\t0\t0\t0\t0\t0\t0\t2\n")
        .toString();
  }
}
