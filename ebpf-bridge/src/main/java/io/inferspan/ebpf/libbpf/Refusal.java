package io.inferspan.ebpf.libbpf;

import io.inferspan.ebpf.linux.Capability;
import io.inferspan.ebpf.linux.Errno;
import io.inferspan.ebpf.linux.SystemView;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The details of an operation that libbpf or the kernel refused, and the error message derived from
 * them.
 *
 * @param object the name of the BPF object; of the program, if attaching or running it was refused
 * @param errno the error number that libbpf or the kernel returned
 * @param messages libbpf's messages
 * @param verifier the kernel verifier's log
 * @param sections the ELF section of each program, which determines the program's type
 * @param system the state of the machine, which explains a refusal without messages
 */
record Refusal(
    String object,
    int errno,
    String messages,
    String verifier,
    Map<String, String> sections,
    SystemView system) {

  private static final Pattern PROGRAM =
      Pattern.compile("prog '([^']+)': (?:BPF program load failed|failed to load)");

  /** Programs of these sections run through a trampoline that the kernel generates. */
  private static final Pattern TRAMPOLINE =
      Pattern.compile("(fentry|fexit|fmod_ret|fsession|lsm|freplace)\\b.*");

  /** Lines that libbpf adds to every failure, or that describe the object as a whole. */
  private static final Pattern NO_REASON =
      Pattern.compile("failed to load object|-- (BEGIN|END)|BPF program load failed|^\\s*$");

  private static final int MAX_MESSAGE_CHARS = 240;

  static Refusal of(String program, String section, int errno, String messages, SystemView system) {
    return new Refusal(program, errno, messages, "", Map.of(program, section), system);
  }

  BpfException ofOpening() {
    return exception("libbpf cannot read object " + object + said(), "rebuild the object");
  }

  BpfException ofLoading() {
    Matcher program = PROGRAM.matcher(messages);
    if (!program.find()) {
      return exception("object " + object + " was not loaded" + said(), permission(""));
    }
    String refused = "program " + program.group(1) + " of object " + object;
    VerifierLog log = VerifierLog.of(verifier);
    if (log.isEmpty()) {
      String section = sections.getOrDefault(program.group(1), "");
      return exception(
          "the kernel refused " + refused + " without a message, " + Errno.describe(errno),
          permission(section));
    }
    String source = log.source().isEmpty() ? "" : " at \"" + log.source() + "\"";
    return exception(
        "the kernel's verifier refused " + refused + source + ", " + log.verdict(), log.advice());
  }

  BpfException ofAttaching(String what) {
    return exception("could not attach " + what + said(), attaching());
  }

  BpfException ofRunning(String program) {
    return exception("could not run program " + program + said(), permission(""));
  }

  private BpfException exception(String reason, String remedy) {
    return new BpfException(reason, remedy, messages + verifier);
  }

  /**
   * Returns the error, and libbpf's first message that contains a reason, for the end of a
   * sentence.
   */
  private String said() {
    return messages
        .lines()
        .map(line -> line.replaceFirst("^libbpf: ", "").strip())
        .filter(line -> !NO_REASON.matcher(line).find())
        // In this line libbpf guesses at resource limits, whatever the reason is.
        .filter(line -> !line.contains("probe_loading"))
        .map(line -> line.substring(0, Math.min(line.length(), MAX_MESSAGE_CHARS)))
        .findFirst()
        .map(line -> ", " + Errno.describe(errno) + ", libbpf says \"" + line + "\"")
        .orElse(", " + Errno.describe(errno));
  }

  private String attaching() {
    if (Errno.ENOENT.is(errno)) {
      return "check that the file or the kernel function exists";
    }
    return permission(sections.getOrDefault(object, ""));
  }

  /**
   * Returns what to do about a missing permission, and its likely reason; empty for other errors.
   */
  private String permission(String section) {
    if (!Errno.EPERM.is(errno) && !Errno.EACCES.is(errno)) {
      return "";
    }
    boolean root = system.has(Capability.SYS_ADMIN);
    if (!root && !(system.has(Capability.BPF) && system.has(Capability.PERFMON))) {
      return "run as root, or with CAP_BPF and CAP_PERFMON";
    }
    if (TRAMPOLINE.matcher(section).matches()) {
      return "the security policy of this kernel forbids programs of section "
          + section
          + ", use a tp_btf or a uprobe program";
    }
    if (system.filtersSystemCalls()) {
      return "a seccomp filter is active, allow bpf(2) and perf_event_open(2) in the container's"
          + " profile";
    }
    return root
        ? "a security module or lockdown forbids it, " + lockdown()
        : "run as root or with CAP_SYS_ADMIN, because CAP_BPF and CAP_PERFMON do not suffice here";
  }

  private String lockdown() {
    String mode = system.lockdown();
    return mode.isEmpty() ? "see the audit log" : "/sys/kernel/security/lockdown says " + mode;
  }
}
