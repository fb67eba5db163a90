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
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Checks capture policies, or changes those of a running bridge.
 *
 * @param names names of shipped policies, or files
 * @param floor one in this many calls of a kind is always kept; zero: no change
 * @param role which of the two to put back
 */
record PolicyOrder(Action action, List<String> names, Parameters parameters, int floor, Role role)
    implements Invocation {

  private static final String ACTIONS = "check, load, swap, list, rollback or off";
  private static final String OPTIONS =
      "--floor, --one-in, --per-second, --percentile, --target-ms, --profiler";
  private static final int MOST = 9_999_999;
  private static final int MOST_FLOOR = 65_535;
  private static final long NANOS_PER_MILLI = 1_000_000;

  /** What to do. */
  enum Action {
    CHECK,
    LOAD,
    SWAP,
    LIST,
    ROLLBACK,
    OFF
  }

  static Invocation parse(Arguments rest) throws UsageException {
    if (!rest.hasNext()) {
      throw new UsageException("policy: say " + ACTIONS);
    }
    Action action = action(rest.next());
    List<String> names = new ArrayList<>();
    int oneIn = 0;
    int perSecond = 0;
    int percentile = 0;
    int targetMillis = 0;
    int floor = 0;
    Role role = Role.POLICY;
    while (rest.hasNext()) {
      String word = rest.next();
      switch (word) {
        case "--floor" -> floor = rest.number(word, MOST_FLOOR);
        case "--one-in" -> oneIn = rest.number(word, MOST);
        case "--per-second" -> perSecond = rest.number(word, MOST);
        case "--percentile" -> percentile = rest.number(word, 99);
        case "--target-ms" -> targetMillis = rest.number(word, MOST);
        case "--profiler" -> role = Role.PROFILER;
        case "--help", "-h" -> {
          return new ShowHelp();
        }
        default -> names.add(name(word, rest));
      }
    }
    check(action, names.size());
    if (role == Role.PROFILER && action != Action.ROLLBACK) {
      throw new UsageException("--profiler is for policy rollback; a file says what it is");
    }
    Parameters parameters =
        new Parameters(oneIn, perSecond, 10 * percentile, targetMillis * NANOS_PER_MILLI);
    return new PolicyOrder(action, names, parameters, floor, role);
  }

  private static Action action(String word) throws UsageException {
    for (Action action : Action.values()) {
      if (action.name().toLowerCase(Locale.ROOT).equals(word)) {
        return action;
      }
    }
    throw new UsageException("policy cannot " + word + ": say " + ACTIONS);
  }

  private static String name(String word, Arguments rest) throws UsageException {
    if (word.startsWith("-")) {
      throw rest.unknown("policy", word, OPTIONS);
    }
    return word;
  }

  private static void check(Action action, int names) throws UsageException {
    String word = "policy " + action.name().toLowerCase(Locale.ROOT);
    boolean takesOne = action == Action.LOAD || action == Action.SWAP;
    if (takesOne ? names != 1 : action == Action.CHECK && names == 0) {
      throw new UsageException(
          word + " needs a file, or one of " + String.join(", ", PolicyObject.SHIPPED));
    }
    if (names > 0 && !takesOne && action != Action.CHECK) {
      throw new UsageException(word + " takes no name");
    }
  }

  /** Returns the exit status. */
  int run(PrintStream out, PrintStream err) {
    if (action == Action.CHECK) {
      return verify(out, err);
    }
    try (PolicySlots slots = PolicySlots.open()) {
      switch (action) {
        case LIST -> list(slots, out);
        case OFF -> {
          slots.off();
          out.println("off: every call is kept");
        }
        case ROLLBACK -> say(slots.rollback(role), out);
        default -> load(slots, out);
      }
      return EbpfTool.DONE;
    } catch (IOException failed) {
      err.println(reason(names.getFirst(), failed));
      return EbpfTool.FAILED;
    }
  }

  private int verify(PrintStream out, PrintStream err) {
    int status = EbpfTool.DONE;
    for (String name : names) {
      try (PolicyObject policy = PolicyObject.open(name)) {
        out.println("%s: accepted as a %s".formatted(policy.name(), policy.check().word()));
      } catch (BpfException refused) {
        err.println(name + ": " + refused.getMessage());
        status = EbpfTool.FAILED;
      } catch (IOException failed) {
        err.println(reason(name, failed));
        status = EbpfTool.FAILED;
      }
    }
    return status;
  }

  private void load(PolicySlots slots, PrintStream out) throws IOException {
    try (PolicyObject policy = PolicyObject.open(names.getFirst())) {
      PolicySlots.Swap swap = slots.swap(policy, parameters, floor);
      out.println(
          "%s: generation %d; loaded in %.1f ms, in effect in %.0f us; the floor is one in %d"
              .formatted(
                  policy.name(),
                  swap.generation(),
                  swap.loadNanos() / 1e6,
                  swap.swapNanos() / 1e3,
                  slots.floor()));
    }
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
    out.println(
        "%d calls: %d kept, %d folded, %d dropped; %d kept by the floor, one in %d"
            .formatted(
                slots.judged(),
                slots.count(PolicyCount.KEPT),
                slots.count(PolicyCount.FOLDED),
                slots.count(PolicyCount.DROPPED),
                slots.count(PolicyCount.FLOOR),
                slots.floor()));
  }

  private static void say(PolicySlots.Loaded one, PrintStream out) {
    out.println("%s: %s, generation %d".formatted(one.role().word(), one.name(), one.generation()));
  }

  private static String reason(String name, IOException failed) {
    return failed instanceof NoSuchFileException
        ? name + ": no such file, and no policy of ours: " + String.join(", ", PolicyObject.SHIPPED)
        : name + ": " + failed.getMessage();
  }
}
