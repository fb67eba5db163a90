package io.inferspan.ebpf.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.inferspan.ebpf.policy.Parameters;
import io.inferspan.ebpf.policy.Role;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Command lines, right and wrong. */
class InvocationTest {

  private static final long SELF = ProcessHandle.current().pid();

  @Test
  void agentWithoutOptions_leavesTheScopeToTheSettings() throws UsageException {
    assertThat(parse("agent")).isEqualTo(agent(""));
  }

  @Test
  void agentOptions_becomeOneScope() throws UsageException {
    String pid = Long.toString(SELF);

    assertThat(parse("agent", "--pid=" + pid + ",1", "--command", "python3", "--command", "vllm"))
        .isEqualTo(agent("pid:" + pid + ",pid:1,command:python3,command:vllm"));
  }

  @Test
  void cgroup_isADirectoryOfTheNewerHierarchy(@TempDir Path cgroup)
      throws IOException, UsageException {
    Files.createFile(cgroup.resolve("cgroup.controllers"));

    assertThat(parse("agent", "--cgroup", cgroup.toString())).isEqualTo(agent("cgroup:" + cgroup));
  }

  @Test
  void metricsPort_isAnyPortOrNone() throws UsageException {
    assertThat(parse("agent", "--metrics-port", "9464"))
        .isEqualTo(new Invocation.Agent(new Targets(""), 9464, false));
    assertThat(parse("agent", "--metrics-port=0"))
        .isEqualTo(new Invocation.Agent(new Targets(""), 0, false));
  }

  @Test
  void programs_areMeasuredWhereItIsSaid() throws UsageException {
    assertThat(parse("agent", "--measure-programs"))
        .isEqualTo(new Invocation.Agent(new Targets(""), Invocation.Agent.NONE, true));
  }

  @Test
  void policy_isLoadedWithItsParameters() throws UsageException {
    assertThat(parse("policy", "load", "slo", "--target-ms=200", "--floor", "50"))
        .isEqualTo(
            new PolicyOrder(
                PolicyOrder.Action.LOAD,
                List.of("slo"),
                new Parameters(0, 0, 0, 200_000_000),
                50,
                Role.POLICY));
  }

  @Test
  void unknownPolicy_isRefusedWithTheNamesOfOurs() throws Exception {
    assertThat(run(Map.of(), "policy", "check", "fast-only"))
        .startsWith("1 err: fast-only: no such file, and no policy of ours: keep-all, ");
  }

  @Test
  void flame_isMadeOfFiles_andDiffOfTwo(@TempDir Path directory) throws Exception {
    Path before = Files.writeString(directory.resolve("a"), "main;fast 1\n");
    Path after = Files.writeString(directory.resolve("b"), "main;slow 2\n");
    Path folded = directory.resolve("out.folded");
    Path page = directory.resolve("out.html");

    assertThat(run("flame", before + "", after + "", "--out", folded + "")).isZero();
    assertThat(folded).hasContent("main;fast 1\nmain;slow 2\n");
    assertThat(run("diff", before + "", after + "", "--out=" + page, "--title", "A & B")).isZero();
    assertThat(Files.readString(page)).contains("<h1>A &amp; B</h1>", "data-difference=\"true\"");
  }

  @Test
  void flameOfOneTrace_leavesOutTheOthers(@TempDir Path directory) throws Exception {
    String trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    Path all =
        Files.writeString(
            directory.resolve("a"), "no trace;main;idle 5\ntrace " + trace + ";main;work 3\n");
    Path folded = directory.resolve("out.folded");

    assertThat(run("flame", all + "", "--trace", trace, "--out", folded + "")).isZero();
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
        .isEqualTo("0 out: slowest: 1 of 2 requests, from 30 samples on");
    assertThat(Files.readString(page)).contains("<h1>Slowest 1 %</h1>", "data-difference=\"true\"");
    String[] byTime = {
      "diff", all + "", "--slowest", "1%", "--requests", durations + "", "--out", page + ""
    };
    assertThat(run(Map.of(), byTime)).isEqualTo("0 out: slowest: 1 of 2 requests, from 90 ms on");
    Path before = Files.writeString(directory.resolve("a"), "main;work 3\n");
    Path after = Files.writeString(directory.resolve("b"), "main;lock 30\n");
    Path same = directory.resolve("same.html");
    assertThat(run("diff", before + "", after + "", "--out=" + same, "--title=Slowest 1 %"))
        .isZero();
    assertThat(page).hasSameTextualContentAs(same);
    Path model = directory.resolve("model.folded");
    Files.writeString(durations, slow + " 90 large\n" + fast + " 5 small\n");
    String[] ofModel = {
      "flame", all + "", "--requests", durations + "", "--model=large", "--out", model + ""
    };
    assertThat(run(ofModel)).isZero();
    assertThat(Files.readString(model)).isEqualTo("main;lock 30\n");
    Files.writeString(durations, "1 2\n");
    assertThat(run(Map.of(), byTime))
        .startsWith("1 err: " + durations + ": line 1, column 1: expected a trace id");
  }

  @Test
  void fileOfAnotherFormat_isRefusedWithItsPlace(@TempDir Path directory) throws Exception {
    Path file = Files.writeString(directory.resolve("a"), "main;fast 1\nmain\n");
    ByteArrayOutputStream err = new ByteArrayOutputStream();

    int status =
        EbpfTool.run(
            List.of("flame", file.toString()), Map.of(), System.out, new PrintStream(err, true));

    assertThat(status).isEqualTo(EbpfTool.FAILED);
    assertThat(err.toString(StandardCharsets.UTF_8))
        .isEqualToIgnoringNewLines(file + ": line 2, column 5: expected a count after the stack");
  }

  private static int run(String... arguments) throws InterruptedException {
    PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream());
    return EbpfTool.run(List.of(arguments), Map.of(), nowhere, System.err);
  }

  @Test
  void otherCommands_areRead() throws UsageException {
    assertThat(parse("doctor")).isEqualTo(new Invocation.Doctor());
    assertThat(parse("top")).isEqualTo(new Invocation.Top(false));
    assertThat(parse("top", "--once")).isEqualTo(new Invocation.Top(true));
    assertThat(parse("--version")).isEqualTo(new Invocation.ShowVersion());
    for (String[] help : new String[][] {{"--help"}, {"-h"}, {"agent", "--help"}, {"top", "-h"}}) {
      assertThat(parse(help)).isEqualTo(new Invocation.ShowHelp());
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          ''                        | no command given: say agent, doctor, top, record, flame, diff, import, coldstart or policy
          record --seconds 0        | --seconds 0: must be from 1 to 86400
          record --out x.json       | --out x.json: must end with .html, .folded or .txt
          record --cpu              | record has no option --cpu; its options: --pid, --seconds
          record --cuda             | --cuda and --device need processes, as in --pid 4711
          record --off-cpu --unit bytes | --unit bytes: must be ns or calls here
          record --trace 7          | --trace 7: must be 32 hexadecimal digits
          flame                     | flame needs a file of stacks
          coldstart                 | coldstart needs -- COMMAND, --pid N, report FILE or compare
          coldstart --              | coldstart needs -- COMMAND, --pid N, report FILE or compare
          coldstart --pid 1 -- a    | coldstart needs -- COMMAND, --pid N, report FILE or compare
          coldstart --pid 1,1       | --pid 1,1: must be one process
          coldstart --pid 1 --drop-caches | --ready-log, --stop and --drop-caches are for a command, not for --pid
          coldstart --ready-url a -- b | --ready-url a: must begin with http:// or https://
          coldstart --desk 8900 -- b | --desk 8900: must begin with http:// or https://
          coldstart --ready-log ( -- b | --ready-log (: Unclosed group
          coldstart --url a -- b    | coldstart has no option --url; its options: --pid
          coldstart report          | coldstart report needs one file of calls
          coldstart compare a       | coldstart compare needs two files, before and after
          coldstart report a --fast | coldstart has no option --fast; its options: --bucket-ms
          coldstart report a --bucket-ms 0 | --bucket-ms 0: must be from 1 to 3600000
          policy                    | policy: say check, load, swap, list, rollback or off
          policy drop               | policy cannot drop: say check, load, swap, list, rollback or off
          policy load               | policy load needs a file, or one of keep-all, rate-limit
          policy check              | policy check needs a file, or one of keep-all, rate-limit
          policy list keep-all      | policy list takes no name
          policy load slo --percent 1 | policy has no option --percent; its options: --floor
          policy load slo --floor 0 | --floor 0: must be from 1 to 65535
          policy load slo --profiler | --profiler is for policy rollback
          import                    | import needs a file of NCCL's inspector or of OTLP/JSON
          import a --fast           | import has no option --fast; its options: --nccl-maps
          diff a                    | diff needs two files, before and after
          flame a --out b.svg       | --out b.svg: must end with .html, .folded, .txt or .json
          diff a b --slowest 1%     | --slowest is for diff with one file, of record --by-trace
          flame a --slowest 1%      | --slowest is for diff with one file, of record --by-trace
          diff a --slowest 0%       | --slowest 0%: must be from 0.001% to 99.999%
          diff a --slowest 1        | --slowest 1: must be from 0.001% to 99.999%
          flame a --model m         | --model m: needs --requests, which names models
          diff a --slowest 1% --trace 4bf92f3577b34da6a3ce929d0e0e4736 | --trace takes one request, so
          diff a b --out c.json     | --out c.json: a difference is a page: must end with .html
          flame a --unit days       | --unit days: must be samples, calls, ns, us or bytes
          flame a --trace 1         | --trace 1: must be 32 hexadecimal digits
          flame a --quick           | flame has no option --quick; its options: --out, --title
          watch                     | there is no command watch: say agent, doctor, top, record, flame, diff, import, coldstart or policy
          agent --port 80           | agent has no option --port; its options: --pid, --command, --
          agent 4711                | agent has no option 4711
          agent --pid               | --pid needs a value, as in --pid 4711
          agent --pid --command x   | --pid needs a value, as in --pid 4711
          agent --pid=              | --pid needs a value, as in --pid 4711
          agent --pid java          | --pid java: 'java' is no process number
          agent --pid 0             | --pid 0: '0' is no process number
          agent --pid 999999999     | --pid 999999999: there is no process 999999999
          agent --command /bin/sh   | --command /bin/sh: must be one name, without a directory
          agent --command a,b       | --command a,b: must be one name
          agent --cgroup /etc       | --cgroup /etc: must be a directory of the cgroup v2 hierarchy
          agent --metrics-port      | --metrics-port needs a value, as in --metrics-port 9464
          agent --metrics-port http | --metrics-port http: must be from 0, any, to 65535
          agent --metrics-port 65536 | --metrics-port 65536: must be from 0, any, to 65535
          doctor --fast             | doctor has no option --fast; its options: none
          top --twice               | top has no option --twice; its options: --once
          """)
  void wrongUsage_isOneSentence(String line, String sentence) {
    String[] words = line.isEmpty() ? new String[0] : line.split(" ", -1);

    assertThatThrownBy(() -> parse(words))
        .isInstanceOf(UsageException.class)
        .hasMessageStartingWith(sentence)
        .hasMessageNotContaining("\n");
  }

  @Test
  void wrongUsage_endsWithStatusTwo() throws InterruptedException {
    assertThat(run(Map.of(), "agent", "--port")).isEqualTo("2 err: agent has no option --port");
    assertThat(run(Map.of("INFERSPAN_EBPF_RING_BYTES", "100"), "agent"))
        .startsWith("2 err: INFERSPAN_EBPF_RING_BYTES: ");
  }

  @Test
  void helpAndVersion_goToStandardOutput() throws InterruptedException {
    assertThat(run(Map.of(), "--help")).startsWith("0 out: Kernel and CUDA events");
    assertThat(run(Map.of(), "--version")).startsWith("0 out: inferspan-ebpf-bridge ");
  }

  @Test
  void commandOfAColdStart_keepsItsOwnOptions() throws UsageException {
    assertThat(parse("coldstart", "--out=a", "--", "vllm", "serve", "--port=1", "--", "--pid"))
        .isEqualTo(
            new ColdStartOrder(
                0,
                List.of("vllm", "serve", "--port=1", "--", "--pid"),
                null,
                null,
                false,
                false,
                Path.of("a"),
                null,
                0));
  }

  private static Invocation agent(String scope) {
    return new Invocation.Agent(new Targets(scope), Invocation.Agent.NONE, false);
  }

  private static Invocation parse(String... arguments) throws UsageException {
    return Invocation.parse(List.of(arguments));
  }

  private static String run(Map<String, String> environment, String... arguments)
      throws InterruptedException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    int status = EbpfTool.run(List.of(arguments), environment, printer(out), printer(err));
    String text = out.toString(StandardCharsets.UTF_8) + err.toString(StandardCharsets.UTF_8);
    String first = text.lines().findFirst().orElse("").split(";", 2)[0];
    return status + (out.size() > 0 ? " out: " : " err: ") + first;
  }

  private static PrintStream printer(ByteArrayOutputStream bytes) {
    return new PrintStream(bytes, true, StandardCharsets.UTF_8);
  }
}
