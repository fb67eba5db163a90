package io.inferspan.ebpf.kernel;

import io.inferspan.ebpf.libbpf.BpfException;
import io.inferspan.ebpf.libbpf.BpfLink;
import io.inferspan.ebpf.libbpf.BpfObject;
import io.inferspan.ebpf.libbpf.BpfProgram;
import io.inferspan.ebpf.libbpf.RunStats;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The objects in the kernel, and what became of each of their programs.
 *
 * <p>The first object makes the maps, the others use them. An object that the kernel refuses is
 * done without, since the others answer other questions.
 */
final class LoadedPrograms implements AutoCloseable {

  private static final List<String> SHARED =
      List.of(
          "events",
          "counters",
          "requests",
          "connections",
          "threads",
          "activity",
          "own_threads",
          "own_contexts",
          "settings",
          "targets",
          "otel_contexts");

  private final Map<String, BpfObject> objects = new LinkedHashMap<>();
  private final List<Entry> entries = new ArrayList<>();
  private final Map<Entry, BpfLink> links = new LinkedHashMap<>();

  /** Those that are taken off for a while. */
  private final List<Entry> resting = new ArrayList<>();

  private boolean closed;

  /** A program that is loaded, or a program or object that is not and why. */
  private record Entry(String object, String name, @Nullable BpfProgram program, String problem) {}

  /** Loads an object that others depend on, the first of all; throws where that cannot be. */
  void addNeeded(String name, Consumer<BpfObject> prepare) {
    load(name, prepare);
  }

  /** Loads another object; false where it was refused, which is noted. */
  boolean add(String name, Consumer<BpfObject> prepare) {
    try {
      load(name, prepare);
      return true;
    } catch (BpfException refused) {
      missing(name, "*", String.valueOf(refused.getMessage()));
      return false;
    }
  }

  private void load(String name, Consumer<BpfObject> prepare) {
    BpfObject object = BpfObject.open(name, Resources.object(name));
    try {
      prepare.accept(object);
      BpfObject first = objects.isEmpty() ? null : objects.values().iterator().next();
      if (first != null) {
        SHARED.forEach(map -> object.share(map, first.map(map)));
      }
      object.load();
    } catch (RuntimeException | Error refused) {
      object.close();
      throw refused;
    }
    objects.put(name, object);
  }

  /** Attaches the programs of an object to what they name, but for {@code left}. */
  void attach(String name, Set<String> left) {
    for (BpfProgram program : object(name).programs()) {
      if (!left.contains(program.name())) {
        attach(name, program);
      }
    }
  }

  private void attach(String object, BpfProgram program) {
    try {
      attached(object, program);
    } catch (BpfException refused) {
      missing(object, program.name(), String.valueOf(refused.getMessage()));
    }
  }

  /** Attaches all programs of an object that tells wrong things where one of them is missing. */
  void attachWhole(String name) {
    object(name).programs().forEach(program -> attached(name, program));
  }

  private void attached(String object, BpfProgram program) {
    BpfLink link = program.attach();
    Entry entry = new Entry(object, program.name(), program, "");
    links.put(entry, link);
    entries.add(entry);
  }

  /** Notes a program that stands ready. */
  void inPlace(String object, BpfProgram program) {
    entries.add(new Entry(object, program.name(), program, ""));
  }

  /** Notes what is done without. */
  void missing(String object, String program, String problem) {
    entries.add(new Entry(object, program, null, problem));
  }

  BpfObject object(String name) {
    BpfObject object = objects.get(name);
    if (object == null) {
      throw new IllegalStateException("object " + name + " is not loaded");
    }
    return object;
  }

  /** What became of all of them; after closing, what they had cost is not known any more. */
  synchronized List<ProgramState> states() {
    return entries.stream().map(this::state).toList();
  }

  /** What became of one; null where nothing was heard of it. */
  synchronized @Nullable ProgramState state(String object, String name) {
    for (Entry entry : entries) {
      if (entry.object().equals(object) && entry.name().equals(name)) {
        return state(entry);
      }
    }
    return null;
  }

  private ProgramState state(Entry entry) {
    BpfProgram program = entry.program();
    if (program == null || closed || !entry.problem().isEmpty()) {
      String problem = closed && program != null ? "detached" : entry.problem();
      return new ProgramState(entry.object(), entry.name(), problem, 0, 0);
    }
    try {
      RunStats runs = program.runs();
      return new ProgramState(entry.object(), entry.name(), "", runs.count(), runs.totalNanos());
    } catch (BpfException unknown) {
      return new ProgramState(entry.object(), entry.name(), "", 0, 0);
    }
  }

  /** Takes the programs of these objects off for a while. */
  synchronized void rest(List<String> objects) {
    for (Entry entry : List.copyOf(links.keySet())) {
      BpfLink link = objects.contains(entry.object()) ? links.remove(entry) : null;
      if (link != null) {
        link.close();
        resting.add(entry);
      }
    }
  }

  /** Puts them back; one that is refused is noted, and tried the next time. */
  synchronized void rouse() {
    for (Entry entry : List.copyOf(resting)) {
      BpfProgram program = entry.program();
      if (program != null) {
        rouse(entry, program);
      }
    }
  }

  private void rouse(Entry resting, BpfProgram program) {
    this.resting.remove(resting);
    Entry now = new Entry(resting.object(), resting.name(), program, "");
    try {
      links.put(now, program.attach());
    } catch (BpfException refused) {
      now = new Entry(now.object(), now.name(), program, String.valueOf(refused.getMessage()));
      this.resting.add(now);
    }
    entries.set(entries.indexOf(resting), now);
  }

  /** Detaches for good; maps stay for those that read what is left. */
  synchronized void detach() {
    links.values().forEach(BpfLink::close);
    links.clear();
    resting.clear();
  }

  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      detach();
      List<BpfObject> backwards = new ArrayList<>(objects.values()).reversed();
      backwards.forEach(BpfObject::close);
    }
  }
}
