package io.inferspan.kvcache.index;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/**
 * The interned pod entries of a table, current and retired.
 *
 * <p>Millions of blocks share a few entries, so clearing a pod is quick: retiring its entries hides
 * them in all blocks at once. They are removed from the blocks later. An equal entry that is added
 * afterwards is a new object and stays visible.
 */
final class PodEntries {

  /** Values are weak, so that removed pods leave nothing behind. */
  private final Cache<PodEntry, PodEntry> current =
      Caffeine.newBuilder().executor(Runnable::run).weakValues().build();

  private volatile Set<PodEntry> retired = Set.of();

  /** Returns the shared instances of these entries. */
  PodEntry[] intern(List<PodEntry> entries) {
    return entries.stream()
        .distinct()
        .map(entry -> current.get(entry, PodEntries::copy))
        .toArray(PodEntry[]::new);
  }

  /** Returns a copy, because a value that is its own key would never be collected. */
  private static PodEntry copy(PodEntry entry) {
    return new PodEntry(
        entry.pod(), entry.tier(), entry.speculative(), entry.grouped(), entry.group());
  }

  /** Returns whether all of these entries are still current. */
  @SuppressWarnings("ReferenceEquality") // an equal entry may have replaced it
  boolean areCurrent(PodEntry[] interned) {
    for (PodEntry entry : interned) {
      if (current.getIfPresent(entry) != entry) {
        return false;
      }
    }
    return true;
  }

  /** Returns how many pods have current entries. */
  int pods() {
    return (int) current.asMap().keySet().stream().map(PodEntry::pod).distinct().count();
  }

  /** Hides a pod's entries in all blocks. */
  synchronized void retire(String pod) {
    Set<PodEntry> more = identities(retired);
    for (PodEntry key : current.asMap().keySet()) {
      PodEntry entry = key.pod().equals(pod) ? current.asMap().remove(key) : null;
      if (entry != null) {
        more.add(entry);
      }
    }
    retired = unlessEmpty(more);
  }

  /** Returns the retired entries that blocks may still refer to. */
  Set<PodEntry> retired() {
    return retired;
  }

  /** Forgets retired entries that no block refers to. */
  synchronized void forget(Set<PodEntry> swept) {
    Set<PodEntry> left = identities(retired);
    left.removeAll(swept);
    retired = unlessEmpty(left);
  }

  private static Set<PodEntry> unlessEmpty(Set<PodEntry> entries) {
    return entries.isEmpty() ? Set.of() : entries;
  }

  private static Set<PodEntry> identities(Set<PodEntry> entries) {
    Set<PodEntry> identities = Collections.newSetFromMap(new IdentityHashMap<>());
    identities.addAll(entries);
    return identities;
  }
}
