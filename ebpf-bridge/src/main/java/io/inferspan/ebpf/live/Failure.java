package io.inferspan.ebpf.live;

import java.util.Locale;

/** A kind of error that the bridge counts and survives. */
enum Failure {
  /** A library could not be observed. */
  LIBRARY,
  /** A process could not be followed. */
  PROCESS,
  /** The table of observed processes, which the kernel's programs read, was full. */
  TARGET,
  /** An event could not be handled. */
  RING,
  /** A thread of this process could not be registered with the kernel. */
  OWN_THREAD,
  /** A change of the current context of a thread of this process could not be published. */
  SWITCH;

  /** Returns its name in meters and in a status. */
  String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
