package io.inferspan.ebpf.probe;

import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Names by which operators identify a process.
 *
 * @param executable the file name of its executable
 * @param containerId the id of its container
 * @param podUid the UID of the container's Kubernetes pod
 * @param rank its rank among an engine's workers, such as {@code TP1}, by the title that vLLM sets
 */
public record ProcessIdentity(
    @Nullable String executable,
    @Nullable String containerId,
    @Nullable String podUid,
    @Nullable String rank) {

  /** A process that has exited or is hidden. */
  public static final ProcessIdentity UNKNOWN = new ProcessIdentity(null, null, null, null);

  /**
   * A container's id of 64 hexadecimal digits, after any prefix of a container runtime, such as
   * {@code docker-} or {@code cri-containerd:}.
   */
  private static final Pattern CONTAINER =
      Pattern.compile("(?:^|[/:-])(?<!conmon-)([0-9a-f]{64})(?:\\.scope)?(?=/|$)");

  /**
   * A pod's UID. That of a static pod's mirror is a hash; names of systemd's slices have
   * underscores instead of dashes.
   */
  private static final Pattern POD =
      Pattern.compile("pod([0-9a-f]{32}|[0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12})");

  /**
   * The title of a vLLM worker, such as {@code VLLM::Worker_PP1_TP3}. Its prefix can be configured,
   * and dimensions of size 1 are left out. The quantifiers are bounded and possessive, because any
   * process can choose its title, and a long one would overflow the stack.
   */
  private static final Pattern WORKER =
      Pattern.compile("^[^:/]++::Worker_((?:_?[A-Z]{1,8}+[0-9]{1,8}+){1,8}+)");

  /** Reads the identity of a process of this PID namespace from {@code /proc}. */
  public static ProcessIdentity of(int pid) {
    return of(new ProcessFiles(Path.of("/proc")), pid);
  }

  static ProcessIdentity of(ProcessFiles files, int pid) {
    String program = files.program(pid);
    List<String> cgroups = files.cgroups(pid);
    String pod = last(POD, cgroups);
    return new ProcessIdentity(
        program.isEmpty() ? null : program,
        last(CONTAINER, cgroups),
        pod == null ? null : pod.replace('_', '-'),
        last(WORKER, List.of(files.title(pid))));
  }

  /** Returns the innermost match, because the node may be a container itself. */
  private static @Nullable String last(Pattern pattern, List<String> texts) {
    return texts.stream()
        .flatMap(text -> pattern.matcher(text).results())
        .map((MatchResult found) -> found.group(1))
        .reduce((outer, inner) -> inner)
        .orElse(null);
  }
}
