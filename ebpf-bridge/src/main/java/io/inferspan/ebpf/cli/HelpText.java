package io.inferspan.ebpf.cli;

/** What {@code --help} prints. */
final class HelpText {

  static final String TEXT =
      """
      Kernel and CUDA events as spans under the request's traceparent.

      usage: java -jar inferspan-ebpf-bridge.jar COMMAND [OPTION ...]

      agent                 watches processes of this machine and sends spans, until SIGTERM;
                            without options everything that is sent a request with a traceparent
        --pid N[,N...]        only these processes and their children
        --command NAME        only processes of this name, their children too; may be repeated
        --cgroup DIRECTORY    only processes of this cgroup, such as that of a pod
        --metrics-port N      its own numbers for Prometheus, at http://HOST:N/metrics; 0 is any
        --measure-programs    among them what each program takes, which costs every BPF program of
                              the machine two readings of the clock a run
      doctor                says what is needed to see kernel events, what there is of it, and
                            what to do about the rest
      top                   shows the bridges that run on this machine, whichever process they are
                            part of: events, losses and what each program costs, every second
        --once                once, over one second

      --help, --version

      Settings of the environment, for the agent:
        OTEL_EXPORTER_OTLP_ENDPOINT    where spans go (http://localhost:4317); all other OTEL_*
                                       variables hold as well
        OTEL_SERVICE_NAME              whose spans they are (inferspan-ebpf-agent)
        INFERSPAN_EBPF_SCOPE           as the options say it: everything, or a list such as
                                       command:python3,cgroup:/sys/fs/cgroup/serving
        INFERSPAN_EBPF_EVENTS          cuda,nccl,syscalls,sched,tcp,ckp (all)
        INFERSPAN_EBPF_PATHS           true lets paths of files leave (false)
        INFERSPAN_EBPF_SINGLE_FROM     what took as long is a span of its own (1ms)
        INFERSPAN_EBPF_IGNORE_BELOW    system calls and delays that are shorter are left out (0ms)
        INFERSPAN_EBPF_SLEEP_AFTER     without a sampled request for so long, probes that only serve
                                       requests are taken off until the next; 0s is never (60s)
        INFERSPAN_EBPF_MEASURE_PROGRAMS
                                       true, as the option says it (false)
        INFERSPAN_EBPF_RING_BYTES      room for events on their way, a power of two (16777216)
        INFERSPAN_EBPF_SHARED_CONTEXTS off, or read,publish: contexts of and for OpenTelemetry's
                                       other programs on this machine (off)
        INFERSPAN_EBPF_BPF_FILESYSTEM  where those are shared (/sys/fs/bpf)

      Exit status: 0 done, 1 it cannot work here, 2 the command line or a setting is wrong.
      agent and doctor need root, or CAP_BPF and CAP_PERFMON; top needs root, or CAP_SYS_ADMIN.
      """
          .stripTrailing();

  private HelpText() {}
}
