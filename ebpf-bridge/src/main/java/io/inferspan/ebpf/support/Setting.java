package io.inferspan.ebpf.support;

import java.util.Locale;

/** A setting of a bridge: a system property, or an environment variable. */
public enum Setting {
  SCOPE(
      "everything",
      "the observed processes: everything (all that receive a traceparent), own (only this one), or a list of pid:, command:, cgroup:"),
  EVENTS(
      "all",
      "a list of cuda, nccl, syscalls, sched, tcp, and ckp (operations that programs report themselves)"),
  PATHS("false", "true exports file paths; otherwise only the kind of directory and the extension"),
  SINGLE_FROM("1ms", "events of at least this duration are spans of their own"),
  IGNORE_BELOW("0ms", "shorter system calls and delays are left out, in the kernel"),
  SLEEP_AFTER(
      "60s",
      "after this time without a sampled request, probes for sampled requests are detached until the next one; 0s means never"),
  BUDGET(
      "no limit",
      "what tracing may cost: 1% (of a core), 1%node (of all cores), 20000/s (events), or 500kB/s or 2MB/s (their bytes); detail is lowered to stay within it"),
  LAUNCHES(
      "full",
      "the highest level of detail of kernel and graph launches: full, sampled, folded (counts and sums), counted (numbers only, at their entry), or detached (no probes)"),
  MEASURE_PROGRAMS(
      "false",
      "true makes the kernel measure the run time of all BPF programs of the machine, which costs two clock readings per run"),
  RING_BYTES("16777216", "size of the event ring in bytes, a power of two"),
  SHARED_CONTEXTS(
      "off",
      "a list of read and publish: use the contexts of OpenTelemetry's other eBPF programs, and publish the bridge's to them"),
  BPF_FILESYSTEM("/sys/fs/bpf", "the BPF filesystem in which contexts are shared"),
  CLOCK_REFERENCE(
      "none",
      "host:port of another agent with --metrics-port; spans of engine steps then say how far this host's clock is ahead of that agent's");

  private static final String PREFIX = "inferspan.ebpf.";

  private final String usual;
  private final String meaning;

  Setting(String usual, String meaning) {
    this.usual = usual;
    this.meaning = meaning;
  }

  /** Returns the name of the system property. */
  public String property() {
    return PREFIX + name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Returns the name of the environment variable. */
  public String variable() {
    return "INFERSPAN_EBPF_" + name();
  }

  /** Returns its description and its default. */
  public String meaning() {
    return meaning + " (" + usual + ")";
  }
}
