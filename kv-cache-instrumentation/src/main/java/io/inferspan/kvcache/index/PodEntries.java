package io.inferspan.kvcache.index;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/**
 * The pod entries that a table refers to, each of them once, and those that are no longer valid.
 *
 * <p>Millions of blocks share a few entries. That is also what makes a pod's clearing quick: its
 * entries are retired here, which hides them in all blocks at once; they are taken out of the
 * blocks later, and equal entries that come after are other objects.
 */
final class PodEntries {

  /** Values are weak, so that pods that have gone for good leave nothing behind. */
  private final Cache<PodEntry, PodEntry> current =
      Caffeine.newBuilder().executor(Runnable::run).weakValues().build();

  private volatile Set<PodEntry> retired = Set.of();

  /** The entries by which blocks refer to these. */
  PodEntry[] intern(List<PodEntry> entries) {
    return entries.stream()
        .distinct()
        .map(entry -> current.get(entry, PodEntries::another))
        .toArray(PodEntry[]::new);
  }

  /** Another object: a value that were its own key would never be let go. */
  private static PodEntry another(PodEntry entry) {
    return new PodEntry(
        entry.pod(), entry.tier(), entry.speculative(), entry.grouped(), entry.group());
  }

  /** Whether none of them has been retired since it was interned. */
  @SuppressWarnings("ReferenceEquality") // An equal one may have taken its place.
  boolean areCurrent(PodEntry[] interned) {
    for (PodEntry entry : interned) {
      if (current.getIfPresent(entry) != entry) {
        return false;
      }
    }
    return true;
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

  /** The entries that blocks may still refer to, but that count no more. */
  Set<PodEntry> retired() {
    return retired;
  }

  /** Forgets retired entries that no block refers to any more. */
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
