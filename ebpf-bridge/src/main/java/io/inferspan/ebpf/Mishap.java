package io.inferspan.ebpf;

import java.util.Locale;

/** What may go wrong in a bridge without ending it; each is counted. */
enum Mishap {
  /** A library could not be watched. */
  LIBRARY,
  /** A process could not be followed. */
  PROCESS,
  /** The kernel had no room for a process of interest. */
  TARGET,
  /** An event could not be handled. */
  RING,
  /** An own thread got no slot. */
  OWN_THREAD,
  /** A switch of an own thread could not be told of. */
  SWITCH;

  /** Its name in meters and in a status. */
  String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
