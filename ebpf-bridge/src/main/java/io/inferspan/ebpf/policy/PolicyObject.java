package io.inferspan.ebpf.policy;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.inferspan.ebpf.kernel.BridgeMaps;
import io.inferspan.ebpf.kernel.PolicyMaps;
import io.inferspan.ebpf.kernel.Resources;
import io.inferspan.ebpf.libbpf.BpfException;
import io.inferspan.ebpf.libbpf.BpfObject;
import io.inferspan.ebpf.libbpf.BpfProgram;
import io.inferspan.ebpf.libbpf.feature.KernelFeatures;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The object file of a policy or a profiler. It can be verified without a bridge, or loaded into a
 * running bridge.
 */
public final class PolicyObject implements AutoCloseable {

  /** The names of the policies and profilers in this jar. */
  public static final List<String> SHIPPED =
      List.of("keep-all", "rate-limit", "slow-only", "adaptive", "slo", "latency");

  static final String PARAMETERS = "parameters";

  private static final String SECTION = "uprobe/";
  private static final String REMEDY = "write it with inferspan_policy.h, one program per file";

  private final BpfObject object;
  private final BpfProgram program;
  private final String name;

  private PolicyObject(BpfObject object, BpfProgram program, String name) {
    this.object = object;
    this.program = program;
    this.name = name;
  }

  /** Opens an object of this jar by name, or another object by its file. */
  public static PolicyObject open(String nameOrFile) throws IOException {
    return SHIPPED.contains(nameOrFile)
        ? of(nameOrFile, Resources.policy(nameOrFile.replace('-', '_')))
        : of(
            Path.of(nameOrFile).getFileName().toString().replaceFirst("\\.bpf\\.o$", ""),
            Files.readAllBytes(Path.of(nameOrFile)));
  }

  /** Opens an object from the contents of its file. */
  public static PolicyObject of(String name, byte[] elf) {
    BpfObject object = BpfObject.open(name, elf);
    try {
      List<BpfProgram> programs = object.programs();
      if (programs.size() != 1) {
        throw new BpfException(
            "object %s has %d programs instead of one".formatted(name, programs.size()),
            REMEDY,
            "");
      }
      BpfProgram program = programs.getFirst();
      program.via(KernelFeatures.probe().uprobes());
      return new PolicyObject(object, program, name);
    } catch (RuntimeException | Error refused) {
      object.close();
      throw refused;
    }
  }

  /** Returns the name of the file, or of the object in this jar. */
  public String name() {
    return name;
  }

  /**
   * Verifies the program in the kernel, without a bridge, and returns its role. If the kernel
   * refuses the program, the exception has the verifier's verdict.
   */
  public Role check() {
    object.load();
    return role();
  }

  void load(BridgeMaps bridge) {
    boolean complete = object.hasMap(PARAMETERS) && object.hasMap(PolicyMaps.PROGRAMS);
    bridge.load(object, PolicyMaps.SHARED);
    if (!complete) {
      throw new BpfException(
          "object " + name + " lacks the map " + PARAMETERS + " or " + PolicyMaps.PROGRAMS,
          REMEDY,
          "");
    }
  }

  /** Returns the role that the program's section names; throws if it names none. */
  Role role() {
    Role role = roleOf(program.section());
    if (role == null) {
      throw new BpfException(
          "program %s of object %s is in section %s instead of uprobe/policy or uprobe/profiler"
              .formatted(program.name(), name, program.section()),
          REMEDY,
          "");
    }
    return role;
  }

  private static @Nullable Role roleOf(String section) {
    for (Role role : Role.values()) {
      if (section.equals(SECTION + role.word())) {
        return role;
      }
    }
    return null;
  }

  void configure(Parameters parameters, int generation) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment first = arena.allocateFrom(JAVA_INT, 0);
      boolean ignored = object.map(PARAMETERS).put(first, parameters.in(arena, generation));
    }
  }

  int fd() {
    return program.fd();
  }

  @Override
  public void close() {
    object.close();
  }
}
