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
 * The loaded BPF objects of a bridge, and the state of each of their programs.
 *
 * <p>The first object creates the maps, and the others share them. If the kernel refuses an
 * optional object, the others still work.
 */
final class LoadedPrograms implements AutoCloseable {

  /** The maps that all objects of a bridge share. */
  static final List<String> SHARED =
      List.of(
          """
          events counters requests connections servers threads activity adopted engines framed
          own_threads own_contexts settings targets folds otel_contexts
          """
              .split("\\s+"));

  private final Map<String, BpfObject> objects = new LinkedHashMap<>();
  private final List<Entry> entries = new ArrayList<>();
  private final Map<Entry, BpfLink> links = new LinkedHashMap<>();

  /** Programs that are detached until {@link #resume}. */
  private final List<Entry> paused = new ArrayList<>();

  private boolean closed;

  /**
   * A program and its state. If it is not attached, {@code problem} is the reason; the name {@code
   * *} stands for all programs of an object that was not loaded.
   */
  private record Entry(String object, String name, @Nullable BpfProgram program, String problem) {}

  /**
   * Loads a required object; throws if the kernel refuses it. The first object must be a required
   * one.
   */
  void addNeeded(String name, Consumer<BpfObject> prepare) {
    load(name, prepare);
  }

  /** Loads an optional object; if the kernel refuses it, records the reason and returns false. */
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

  /**
   * Attaches the programs of an object to the targets in their ELF section names, except the
   * programs in {@code omitted}.
   */
  void attach(String name, Set<String> omitted) {
    for (BpfProgram program : object(name).programs()) {
      if (!omitted.contains(program.name())) {
        attach(name, program);
      }
    }
  }

  private void attach(String object, BpfProgram program) {
    try {
      attachOrThrow(object, program);
    } catch (BpfException refused) {
      missing(object, program.name(), String.valueOf(refused.getMessage()));
    }
  }

  /** Attaches all programs of an object; throws if the kernel refuses one of them. */
  void attachWhole(String name) {
    object(name).programs().forEach(program -> attachOrThrow(name, program));
  }

  private void attachOrThrow(String object, BpfProgram program) {
    BpfLink link = program.attach();
    Entry entry = new Entry(object, program.name(), program, "");
    links.put(entry, link);
    entries.add(entry);
  }

  /** Records a program that other code attaches. */
  void inPlace(String object, BpfProgram program) {
    entries.add(new Entry(object, program.name(), program, ""));
  }

  /** Records a program that is not loaded or attached. */
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

  /** Returns the state of all programs; after closing, without run statistics. */
  synchronized List<ProgramState> states() {
    return entries.stream().map(this::state).toList();
  }

  /** Returns the state of a program; null if it is unknown. */
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

  /** Detaches the programs of these objects until {@link #resume}. */
  synchronized void pause(List<String> objects) {
    for (Entry entry : List.copyOf(links.keySet())) {
      BpfLink link = objects.contains(entry.object()) ? links.remove(entry) : null;
      if (link != null) {
        link.close();
        paused.add(entry);
      }
    }
  }

  /**
   * Attaches the paused programs of these objects; a program that the kernel refuses stays paused.
   */
  synchronized void resume(List<String> objects) {
    for (Entry entry : List.copyOf(paused)) {
      BpfProgram program = entry.program();
      if (program != null && objects.contains(entry.object())) {
        resume(entry, program);
      }
    }
  }

  private void resume(Entry detached, BpfProgram program) {
    this.paused.remove(detached);
    Entry now = new Entry(detached.object(), detached.name(), program, "");
    try {
      links.put(now, program.attach());
    } catch (BpfException refused) {
      now = new Entry(now.object(), now.name(), program, String.valueOf(refused.getMessage()));
      this.paused.add(now);
    }
    entries.set(entries.indexOf(detached), now);
  }

  /** Detaches all programs permanently; maps stay open for their readers. */
  synchronized void detach() {
    links.values().forEach(BpfLink::close);
    links.clear();
    paused.clear();
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
