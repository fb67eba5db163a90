package io.inferspan.ebpf.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
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
          ''                        | no command given: say agent, doctor or top
          watch                     | there is no command watch: say agent, doctor or top
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
