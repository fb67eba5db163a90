package io.inferspan.ebpf;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/** A family of events; leaving a family out saves the cost of its programs. */
public enum EventFamily {
  /** Calls of the CUDA driver and runtime. */
  CUDA,
  /** Collectives and transfers of NCCL. */
  NCCL,
  /** System calls that a request waits for. */
  SYSCALLS,
  /** Time that threads spend off the CPU, and time that they are runnable but wait for a CPU. */
  SCHED,
  /** Outgoing connections, until they are established or fail, and retransmissions. */
  TCP,
  /** Operations that an application marks with {@code inferspan_ckp.h}. */
  CKP;

  /** Parses comma-separated names such as {@code cuda,nccl}. */
  static Set<EventFamily> parse(String names) {
    Set<EventFamily> families = EnumSet.noneOf(EventFamily.class);
    for (String name : names.split(",", -1)) {
      families.add(named(name.strip()));
    }
    return families;
  }

  private static EventFamily named(String name) {
    return Arrays.stream(values())
        .filter(family -> family.word().equals(name))
        .findFirst()
        .orElseThrow(
            () -> new IllegalArgumentException("'" + name + "' is not one of " + allowedWords()));
  }

  private static String allowedWords() {
    return Arrays.stream(values()).map(EventFamily::word).collect(Collectors.joining(", "));
  }

  /** Returns its name in settings. */
  String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
