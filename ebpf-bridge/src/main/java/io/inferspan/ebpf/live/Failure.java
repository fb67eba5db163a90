package io.inferspan.ebpf.live;

import java.util.Locale;

/** A failure that a bridge survives and counts. */
enum Failure {
  /** A library could not be observed. */
  LIBRARY,
  /** A process could not be followed. */
  PROCESS,
  /** The kernel's table had no room for a process. */
  TARGET,
  /** An event could not be handled. */
  RING,
  /** A thread of this process got no slot. */
  OWN_THREAD,
  /** A context switch of a thread of this process could not be published. */
  SWITCH;

  /** Returns its name in meters and in a status. */
  String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
