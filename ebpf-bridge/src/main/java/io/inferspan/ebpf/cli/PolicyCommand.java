package io.inferspan.ebpf.cli;

import io.inferspan.ebpf.kernel.PolicyCount;
import io.inferspan.ebpf.libbpf.BpfException;
import io.inferspan.ebpf.policy.Parameters;
import io.inferspan.ebpf.policy.PolicyObject;
import io.inferspan.ebpf.policy.PolicySlots;
import io.inferspan.ebpf.policy.Role;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.NoSuchFileException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Checks capture policies, and lists or changes those of a running bridge. */
@Command(
    name = "policy",
    description =
        "Manages capture policies: programs that decide which CUDA and NCCL calls become events.")
final class PolicyCommand extends ToolCommand {

  private static final String NAMES =
      "keep-all, rate-limit, slow-only, adaptive, slo, the profiler latency, or a file compiled"
          + " with inferspan_policy.h.";

  private static final int MAX_FLOOR = 65_535;

  @Override
  public Integer call() {
    throw wrong("policy needs one of check, load, list, rollback and off");
  }

  @Command(description = "Lets the kernel verify policies.")
  int check(
      @CommandLine.Parameters(arity = "1..*", paramLabel = "NAME", description = NAMES)
          List<String> names) {
    int status = EbpfTool.DONE;
    for (String name : names) {
      try (PolicyObject policy = open(name)) {
        tool().out.println("%s: accepted as a %s".formatted(policy.name(), policy.check().word()));
      } catch (BpfException refused) {
        tool().err.println(name + ": " + refused.getMessage());
        status = EbpfTool.FAILED;
      } catch (IOException failed) {
        tool().err.println(failed.getMessage());
        status = EbpfTool.FAILED;
      }
    }
    return status;
  }

  @Command(
      aliases = "swap",
      description = "Loads a policy into the running bridge, in place of the current one.")
  int load(
      @CommandLine.Parameters(paramLabel = "NAME", description = NAMES) String name,
      @Option(
              names = "--floor",
              paramLabel = "N",
              description = "Always keep one call in N of each kind (100).")
          @Nullable Integer floor,
      @Mixin PolicyParameters parameters)
      throws IOException {
    int least = within("--floor", floor, MAX_FLOOR);
    Parameters chosen = parameters.checked(this);
    try (PolicySlots slots = PolicySlots.open();
        PolicyObject policy = open(name)) {
      PolicySlots.Swap swap = slots.swap(policy, chosen, least);
      tool()
          .out
          .println(
              ("%s: generation %d; loaded in %.1f ms, in effect after %.0f us;"
                      + " the floor keeps one in %d")
                  .formatted(
                      policy.name(),
                      swap.generation(),
                      swap.loadNanos() / 1e6,
                      swap.swapNanos() / 1e3,
                      slots.floor()));
    }
    return EbpfTool.DONE;
  }

  @Command(
      description = "Lists the policies of the running bridge, and what they kept and dropped.")
  int list() {
    try (PolicySlots slots = PolicySlots.open()) {
      list(slots, tool().out);
    }
    return EbpfTool.DONE;
  }

  @Command(description = "Restores the previous policy.")
  int rollback(
      @Option(names = "--profiler", description = "Restore the profiler instead.")
          boolean profiler) {
    try (PolicySlots slots = PolicySlots.open()) {
      say(slots.rollback(profiler ? Role.PROFILER : Role.POLICY), tool().out);
    }
    return EbpfTool.DONE;
  }

  @Command(description = "Removes all policies, so that every call is kept.")
  int off() {
    try (PolicySlots slots = PolicySlots.open()) {
      slots.off();
    }
    tool().out.println("off: every call is kept");
    return EbpfTool.DONE;
  }

  private static void list(PolicySlots slots, PrintStream out) {
    List<PolicySlots.Loaded> current = slots.current();
    if (current.isEmpty()) {
      out.println("no policy: every call is kept");
    }
    for (PolicySlots.Loaded one : current) {
      say(one, out);
      PolicySlots.Loaded previous = slots.previous(one.role());
      if (previous != null) {
        out.println("  previous: " + previous.name());
      }
    }
    int floor = slots.floor();
    out.println(
        "%d calls: %d kept, %d folded, %d dropped; %d kept by the floor%s"
            .formatted(
                slots.judged(),
                slots.count(PolicyCount.KEPT),
                slots.count(PolicyCount.FOLDED),
                slots.count(PolicyCount.DROPPED),
                slots.count(PolicyCount.FLOOR),
                floor == 0 ? "" : " of one call in " + floor));
  }

  private static void say(PolicySlots.Loaded one, PrintStream out) {
    out.println("%s: %s, generation %d".formatted(one.role().word(), one.name(), one.generation()));
  }

  /** Opens a policy; the message of a failure includes its name. */
  static PolicyObject open(String name) throws IOException {
    try {
      return PolicyObject.open(name);
    } catch (NoSuchFileException absent) {
      throw new IOException(
          name
              + ": not a file, and not one of the included policies: "
              + String.join(", ", PolicyObject.SHIPPED),
          absent);
    } catch (IOException failed) {
      throw new IOException(name + ": " + failed.getMessage(), failed);
    }
  }
}
