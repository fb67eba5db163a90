package io.inferspan.ebpf.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** Valid and invalid command lines. */
class EbpfToolTest {

  @Test
  void unknownPolicy_isRefusedWithTheIncludedNames() throws Exception {
    assertThat(run(Map.of(), "policy", "check", "fast-only"))
        .startsWith(
            "1 err: fast-only: not a file, and not one of the included policies: keep-all, ");
  }

  @Test
  void flame_readsFiles_andDiffReadsTwo(@TempDir Path directory) throws Exception {
    Path before = Files.writeString(directory.resolve("a"), "main;fast 1\n");
    Path after = Files.writeString(directory.resolve("b"), "main;slow 2\n");
    Path folded = directory.resolve("out.folded");
    Path page = directory.resolve("out.html");

    assertThat(run(Map.of(), "flame", before + "", after + "", "--out", folded + ""))
        .startsWith("0 ");
    assertThat(folded).hasContent("main;fast 1\nmain;slow 2\n");
    assertThat(run(Map.of(), "diff", before + "", after + "", "--out=" + page, "--title", "A & B"))
        .startsWith("0 ");
    assertThat(Files.readString(page)).contains("<h1>A &amp; B</h1>", "data-difference=\"true\"");
  }

  @Test
  void flameOfOneTrace_leavesOutTheOthers(@TempDir Path directory) throws Exception {
    String trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    Path all =
        Files.writeString(
            directory.resolve("a"), "no trace;main;idle 5\ntrace " + trace + ";main;work 3\n");
    Path folded = directory.resolve("out.folded");

    assertThat(run(Map.of(), "flame", all + "", "--trace", trace, "--out", folded + ""))
        .startsWith("0 ");
    assertThat(folded).hasContent("main;work 3\n");
  }

  @Test
  void diffOfTheSlowest_dividesOneFile(@TempDir Path directory) throws Exception {
    String slow = "4bf92f3577b34da6a3ce929d0e0e4736";
    String fast = slow.replace('4', '5');
    Path all =
        Files.writeString(
            directory.resolve("all.folded"),
            "trace %s;main;lock 30\ntrace %s;main;work 3\n".formatted(slow, fast));
    Path durations = Files.writeString(directory.resolve("ms"), slow + " 90\n" + fast + " 5\n");
    Path page = directory.resolve("out.html");

    String[] byWeight = {"diff", all + "", "--slowest=1%", "--out", page + ""};
    assertThat(run(Map.of(), byWeight))
        .isEqualTo("0 out: slowest: 1 of 2 requests, 30 samples or more");
    assertThat(Files.readString(page)).contains("<h1>Slowest 1 %</h1>", "data-difference=\"true\"");
    String[] byTime = {
      "diff", all + "", "--slowest", "1%", "--requests", durations + "", "--out", page + ""
    };
    assertThat(run(Map.of(), byTime)).isEqualTo("0 out: slowest: 1 of 2 requests, 90 ms or more");
    Path before = Files.writeString(directory.resolve("a"), "main;work 3\n");
    Path after = Files.writeString(directory.resolve("b"), "main;lock 30\n");
    Path same = directory.resolve("same.html");
    assertThat(
            run(Map.of(), "diff", before + "", after + "", "--out=" + same, "--title=Slowest 1 %"))
        .startsWith("0 ");
    assertThat(page).hasSameTextualContentAs(same);
    Path model = directory.resolve("model.folded");
    Files.writeString(durations, slow + " 90 large\n" + fast + " 5 small\n");
    String[] ofModel = {
      "flame", all + "", "--requests", durations + "", "--model=large", "--out", model + ""
    };
    assertThat(run(Map.of(), ofModel)).startsWith("0 ");
    assertThat(Files.readString(model)).isEqualTo("main;lock 30\n");
    Files.writeString(durations, "1 2\n");
    assertThat(run(Map.of(), byTime))
        .startsWith("1 err: " + durations + ": line 1, column 1: expected a trace id");
  }

  @Test
  void malformedFile_isRefusedWithLineAndColumn(@TempDir Path directory) throws Exception {
    Path file = Files.writeString(directory.resolve("a"), "main;fast 1\nmain\n");

    assertThat(run(Map.of(), "flame", file.toString()))
        .isEqualTo("1 err: " + file + ": line 2, column 5: expected a count after the stack");
  }

  @Test
  void everyCommand_explainsItself() throws Exception {
    for (String command : new String[] {"agent", "doctor", "top", "record", "policy load"}) {
      String[] words = (command + " --help").split(" ");
      assertThat(run(Map.of(), words)).startsWith("0 out: Usage: java -jar").contains(command);
    }
    assertThat(run(Map.of(), "help", "flame")).startsWith("0 out: Usage: java -jar");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          ''                        | Missing required subcommand; see --help
          watch                     | Unmatched argument at index 0: 'watch'; see --help
          agent --port 80           | Unknown options: '--port', '80' (did you mean --metrics-port?);
          agent 4711                | Unmatched argument at index 1: '4711'
          agent --pid               | Missing required parameter for option '--pid'
          agent --pid --command x   | Expected parameter for option '--pid' but found '--command'
          agent --pid=              | Invalid value for option '--pid' (N): '' is not an int
          agent --pid java          | Invalid value for option '--pid' (N): 'java' is not an int
          agent --pid 0             | --pid 0: there is no such process
          agent --pid 999999999     | --pid 999999999: there is no such process
          agent --command /bin/sh   | --command /bin/sh: must be one name, without a directory
          agent --command a,b       | --command a,b: must be one name
          agent --cgroup /etc       | --cgroup /etc: must be a directory of cgroup v2
          agent --metrics-port http | Invalid value for option '--metrics-port': 'http' is not an int
          doctor --fast             | Unknown option: '--fast'; see doctor --help
          top --twice               | Unknown option: '--twice'; see top --help
          record --seconds 0        | --seconds 0: must be from 1 to 86400
          record --out x.json       | --out x.json: must end with .html or .folded or .txt
          record --cpu              | Unknown option: '--cpu'
          record --cuda             | --cuda and --device need --pid
          record --cuda --off-cpu   | Error: --off-cpu, --cuda are mutually exclusive
          record --off-cpu --unit bytes | --unit bytes: must be ns or calls for these stacks
          record --trace 7          | --trace 7: must be 32 hexadecimal digits
          flame                     | Missing required parameter: 'FILE'; see flame --help
          flame a --out b.HTML      | --out b.HTML: must end with .html
          flame a --out b.svg       | --out b.svg: must end with .html or .folded or .txt or .json
          flame a --model m         | --model m: needs --requests with a model on each line
          flame a --unit days       | Invalid value for option '--unit': days must be samples, calls,
          flame a --trace 1         | --trace 1: must be 32 hexadecimal digits
          flame a --slowest 1%      | Unknown option: '--slowest'; see flame --help
          diff a                    | diff needs two files, or one and --slowest
          diff a b --slowest 1%     | diff needs two files, or one and --slowest
          diff a --slowest 0%       | --slowest 0%: must be from 0.001% to 99.999%
          diff a --slowest 1        | --slowest 1: must be from 0.001% to 99.999%
          diff a --slowest 1% --trace 4bf92f3577b34da6a3ce929d0e0e4736 | --trace selects one request, but
          diff a b --out c.json     | --out c.json: must end with .html
          import                    | Missing required parameter: 'FILE'; see import --help
          import a --fast           | Unknown option: '--fast'; see import --help
          coldstart                 | coldstart needs -- COMMAND, --pid N, report FILE or compare
          coldstart --              | coldstart needs -- COMMAND, --pid N, report FILE or compare
          coldstart --pid 1 -- a    | coldstart needs -- COMMAND, --pid N, report FILE or compare
          coldstart --pid 1,1       | Invalid value for option '--pid': '1,1' is not an int
          coldstart --pid 1 --drop-caches | --ready-log, --stop and --drop-caches need a command
          coldstart --ready-url a -- b | Invalid value for option '--ready-url': cannot convert 'a'
          coldstart --desk ftp://a -- b | --desk ftp://a: must begin with http:// or https://
          coldstart --ready-log ( -- b | Invalid value for option '--ready-log': cannot convert '('
          coldstart --url a -- b    | Unknown option: '--url'
          coldstart report          | Missing required parameter: 'FILE'; see coldstart report --help
          coldstart compare a       | Missing required parameter: 'AFTER'; see coldstart compare --help
          coldstart report a --fast | Unknown option: '--fast'; see coldstart report --help
          coldstart report a --bucket-ms 0 | --bucket-ms 0: must be from 1 to 3600000
          policy                    | policy needs one of check, load, list, rollback and off
          policy drop               | Unmatched argument at index 1: 'drop'
          policy lod                | Unmatched argument at index 1: 'lod' (did you mean load?)
          policy load               | Missing required parameter: 'NAME'; see policy load --help
          policy swap               | Missing required parameter: 'NAME'
          policy check              | Missing required parameter: 'NAME'
          policy list keep-all      | Unmatched argument at index 2: 'keep-all'; see policy list
          policy load slo --percent 1 | Unknown options: '--percent', '1'
          policy load slo --floor 0 | --floor 0: must be from 1 to 65535
          policy load slo --percentile 100 | --percentile 100: must be from 1 to 99
          policy load slo --profiler | Unknown option: '--profiler'
          """)
  void invalidUsage_isReportedInOneSentence(String line, String sentence) throws Exception {
    String[] words = line.isEmpty() ? new String[0] : line.split(" ", -1);

    assertThat(run(Map.of(), words)).startsWith("2 err: " + sentence);
  }

  @Test
  void portInUse_isAnInvalidOption() throws IOException {
    try (ServerSocket used = new ServerSocket(0)) {
      String port = Integer.toString(used.getLocalPort());

      assertThat(run(Map.of(), "agent", "--metrics-port", port))
          .startsWith("2 err: --metrics-port " + port + ": cannot listen: Address already in use");
    }
    assertThat(run(Map.of(), "agent", "--metrics-port=65536"))
        .startsWith("2 err: --metrics-port 65536: must be from 0 to 65535");
  }

  @Test
  void invalidSetting_endsWithStatusTwo() throws Exception {
    assertThat(run(Map.of("INFERSPAN_EBPF_RING_BYTES", "100"), "agent"))
        .startsWith("2 err: INFERSPAN_EBPF_RING_BYTES: ");
  }

  @Test
  void helpAndVersion_goToStandardOutput() {
    assertThat(run(Map.of(), "--help")).startsWith("0 out: Usage: java -jar");
    assertThat(run(Map.of(), "--version")).startsWith("0 out: inferspan-ebpf-bridge ");
  }

  @Test
  void commandOfAColdStart_keepsItsOwnOptions() {
    CommandLine.ParseResult parsed =
        EbpfTool.commandLine(Map.of(), System.out, System.err, "coldstart")
            .parseArgs("coldstart", "--out=a", "--", "vllm", "serve", "--port=1", "--", "--pid");

    assertThat(parsed.subcommand().matchedPositionalValue(0, List.of()))
        .isEqualTo(List.of("vllm", "serve", "--port=1", "--", "--pid"));
  }

  @Test
  void invalidSettingOfOpenTelemetry_isOneSentence(@TempDir Path directory) throws Exception {
    Path spans = Files.writeString(directory.resolve("a"), "{\"resourceSpans\":[]}");
    System.setProperty("otel.exporter.otlp.protocol", "smoke-signals");
    try {
      assertThat(run(Map.of(), "import", spans.toString()))
          .isEqualTo(
              "2 err: OTEL_EXPORTER_OTLP_PROTOCOL is 'smoke-signals', but must be grpc or"
                  + " http/protobuf");
    } finally {
      System.clearProperty("otel.exporter.otlp.protocol");
    }
  }

  /** Returns the exit status and the first line; fails if there is a second one. */
  private static String run(Map<String, String> environment, String... arguments) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    int status = EbpfTool.run(environment, printer(out), printer(err), arguments);
    assertThat(err.toString(StandardCharsets.UTF_8).lines()).hasSizeLessThan(2);
    String text = out.toString(StandardCharsets.UTF_8) + err.toString(StandardCharsets.UTF_8);
    String first = text.lines().findFirst().orElse("");
    return status + (out.size() > 0 ? " out: " : " err: ") + first;
  }

  private static PrintStream printer(ByteArrayOutputStream bytes) {
    return new PrintStream(bytes, true, StandardCharsets.UTF_8);
  }
}
