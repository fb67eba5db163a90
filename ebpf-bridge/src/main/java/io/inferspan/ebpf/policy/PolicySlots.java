package io.inferspan.ebpf.policy;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.inferspan.ebpf.kernel.BridgeMaps;
import io.inferspan.ebpf.kernel.KernelCounters;
import io.inferspan.ebpf.kernel.KernelSettings;
import io.inferspan.ebpf.kernel.PolicyCount;
import io.inferspan.ebpf.kernel.PolicyMaps;
import io.inferspan.ebpf.kernel.PolicySwitch;
import io.inferspan.ebpf.libbpf.BpfException;
import io.inferspan.ebpf.libbpf.BpfMap;
import io.inferspan.ebpf.libbpf.loaded.LoadedMap;
import io.inferspan.ebpf.libbpf.loaded.LoadedProgram;
import io.inferspan.ebpf.linux.FileDescriptor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Reads and changes the policy and the profiler of a running bridge in any process.
 *
 * <p>One update of an array puts a new policy into effect, so either the old or the new policy
 * decides about each call. Close this object soon, because it keeps the bridge's maps open.
 */
public final class PolicySlots implements AutoCloseable {

  /** The default floor: one call in a hundred of each kind is kept. */
  public static final int USUAL_FLOOR = 100;

  private static final String NO_BRIDGE =
      "no bridge that observes CUDA or NCCL is running on this machine";
  private static final String START = "start the agent, or an application with the bridge";

  private final BridgeMaps bridge;
  private final LoadedMap programs;
  private final LoadedMap counters;
  private final PolicySwitch settings;

  /**
   * A loaded policy or profiler.
   *
   * @param name the first 15 characters of the program's name
   * @param generation the number of the load or rollback that put the program into effect. Spans of
   *     calls that a policy keeps have its generation as an attribute
   */
  public record Loaded(Role role, String name, int generation) {}

  /**
   * A change of the policy or the profiler.
   *
   * @param generation the generation of the new program
   * @param loadNanos the duration of verifying and compiling the program
   * @param swapNanos the duration of the update that put the program into effect
   */
  public record Swap(int generation, long loadNanos, long swapNanos) {}

  private PolicySlots(
      BridgeMaps bridge, LoadedMap programs, LoadedMap counters, PolicySwitch settings) {
    this.bridge = bridge;
    this.programs = programs;
    this.counters = counters;
    this.settings = settings;
  }

  /** Opens the policies of the bridge that was started last; needs CAP_SYS_ADMIN. */
  public static PolicySlots open() {
    return open(any -> true);
  }

  /** Opens the policies of this process's bridge. */
  public static PolicySlots openOwn() {
    return open(bridge -> bridge.isHeldBy(Path.of("/proc/self")));
  }

  private static PolicySlots open(Predicate<BridgeMaps> wanted) {
    List<BridgeMaps> running =
        BridgeMaps.all().stream()
            .filter(each -> each.number(PolicyMaps.PROGRAMS) != 0)
            .filter(wanted)
            .toList();
    if (running.isEmpty()) {
      throw new BpfException(NO_BRIDGE, START, "");
    }
    return of(running.getLast());
  }

  static PolicySlots of(BridgeMaps bridge) {
    List<LoadedMap> open = new ArrayList<>();
    try {
      open.add(opened(bridge.number(PolicyMaps.PROGRAMS)));
      open.add(opened(bridge.counters()));
      try (LoadedMap settings = opened(bridge.number("settings"))) {
        PolicySwitch mapped = KernelSettings.policySwitch(settings.map());
        return new PolicySlots(bridge, open.get(0), open.get(1), mapped);
      }
    } catch (RuntimeException | Error failed) {
      open.forEach(LoadedMap::close);
      throw failed;
    }
  }

  private static LoadedMap opened(int number) {
    LoadedMap map = LoadedMap.openToShare(number);
    if (map == null) {
      throw new BpfException(NO_BRIDGE, START, "");
    }
    return map;
  }

  /**
   * Loads a policy or profiler in place of the current one, which is kept for a rollback. If the
   * kernel rejects the new one, the current one stays in effect.
   *
   * @param floor one in this many calls of each kind is kept whatever the policy decides. Zero
   *     leaves the floor unchanged, or sets the default if policies were disabled
   */
  public Swap swap(PolicyObject policy, Parameters parameters, int floor) {
    long began = System.nanoTime();
    policy.load(bridge);
    long loaded = System.nanoTime();
    Role role = policy.role();
    int generation = settings.nextGeneration();
    policy.configure(parameters, generation);
    copy(role.slot(), role.previousSlot());
    long prepared = System.nanoTime();
    put(role.slot(), policy.fd());
    long swapped = System.nanoTime();
    announce(role, generation);
    if (floor != 0 || settings.floor() == 0) {
      settings.setFloor(floor == 0 ? USUAL_FLOOR : floor);
    }
    return new Swap(generation, loaded - began, swapped - prepared);
  }

  /** Restores the previous program as a new generation, and returns it. */
  public Loaded rollback(Role role) {
    int previous = idAt(role.previousSlot());
    LoadedProgram program = previous == 0 ? null : LoadedProgram.find(previous);
    try (FileDescriptor fd = previous == 0 ? null : LoadedProgram.open(previous)) {
      if (fd == null || program == null) {
        throw new BpfException(
            "there is no previous " + role.word(), "load one, or use policy off", "");
      }
      int generation = settings.nextGeneration();
      renumber(program, generation);
      copy(role.slot(), role.previousSlot());
      put(role.slot(), fd.number());
      announce(role, generation);
      return new Loaded(role, program.name(), generation);
    }
  }

  /** Removes all programs, so that every call is kept. */
  public void off() {
    settings.setFloor(0);
    settings.setCurrent(0);
    for (Role role : Role.values()) {
      delete(role.slot());
      delete(role.previousSlot());
    }
  }

  /** Returns the current programs. */
  public List<Loaded> current() {
    List<Loaded> loaded = new ArrayList<>();
    for (Role role : Role.values()) {
      Loaded one = at(role, role.slot());
      if (one != null) {
        loaded.add(one);
      }
    }
    return loaded;
  }

  /** Returns the program that {@link #rollback} would restore; null if there is none. */
  public @Nullable Loaded previous(Role role) {
    return at(role, role.previousSlot());
  }

  /**
   * Returns the floor: one in this many calls of each kind is kept whatever the policy decides.
   * Zero if policies are disabled.
   */
  public int floor() {
    return settings.floor();
  }

  /** Returns the number of calls that were made while a policy was loaded. */
  public long judged() {
    return new KernelCounters(counters.map()).judged();
  }

  /** Returns the number of calls with this outcome that were made while a policy was loaded. */
  public long count(PolicyCount what) {
    return new KernelCounters(counters.map()).count(what);
  }

  private @Nullable Loaded at(Role role, int slot) {
    int id = idAt(slot);
    LoadedProgram program = id == 0 ? null : LoadedProgram.find(id);
    return program == null ? null : new Loaded(role, program.name(), generation(program));
  }

  private static int generation(LoadedProgram program) {
    try (LoadedMap map = parameters(program);
        Arena arena = Arena.ofConfined()) {
      MemorySegment value = arena.allocate(Parameters.BYTES, Long.BYTES);
      boolean read = map != null && map.map().get(arena.allocateFrom(JAVA_INT, 0), value);
      return read ? value.get(JAVA_INT, 0) : 0;
    }
  }

  private static void renumber(LoadedProgram program, int generation) {
    try (LoadedMap map = Objects.requireNonNull(parameters(program));
        Arena arena = Arena.ofConfined()) {
      MemorySegment first = arena.allocateFrom(JAVA_INT, 0);
      MemorySegment value = arena.allocate(Parameters.BYTES, Long.BYTES);
      boolean ignored = map.map().get(first, value);
      value.set(JAVA_INT, 0, generation);
      ignored = map.map().put(first, value);
    }
  }

  private static @Nullable LoadedMap parameters(LoadedProgram program) {
    for (int number : program.maps()) {
      LoadedMap map = LoadedMap.openToShare(number);
      if (map != null && map.map().name().equals(PolicyObject.PARAMETERS)) {
        return map;
      }
      if (map != null) {
        map.close();
      }
    }
    return null;
  }

  private void copy(int from, int to) {
    int id = idAt(from);
    try (FileDescriptor program = id == 0 ? null : LoadedProgram.open(id)) {
      if (program == null) {
        delete(to);
      } else {
        put(to, program.number());
      }
    }
  }

  /** Publishes the policy's generation for the spans of calls that the floor keeps. */
  private void announce(Role role, int generation) {
    if (role == Role.POLICY) {
      settings.setCurrent(generation);
    }
  }

  private int idAt(int slot) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment id = arena.allocate(JAVA_INT);
      return map().get(arena.allocateFrom(JAVA_INT, slot), id) ? id.get(JAVA_INT, 0) : 0;
    }
  }

  private void put(int slot, int fd) {
    try (Arena arena = Arena.ofConfined()) {
      if (!map().put(arena.allocateFrom(JAVA_INT, slot), arena.allocateFrom(JAVA_INT, fd))) {
        throw new BpfException(
            "the kernel refused to add the program to the bridge's array of policies; this tool"
                + " and the bridge may have different versions",
            "run the command from the jar of the bridge's version",
            "");
      }
    }
  }

  private void delete(int slot) {
    try (Arena arena = Arena.ofConfined()) {
      boolean ignored = map().delete(arena.allocateFrom(JAVA_INT, slot));
    }
  }

  private BpfMap map() {
    return programs.map();
  }

  @Override
  public void close() {
    settings.close();
    counters.close();
    programs.close();
  }
}
