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
      record                counts stacks, a flame graph of which it writes: of what runs, by a timer
        --pid N[,N...]        only these processes
        --seconds N           for so long (10)
        --frequency N         so many times a second on each CPU (99)
        --off-cpu             what waits instead, and how long it did
        --cuda                what calls CUDA instead: launches, copies and synchronisations
        --device              what launched kernels instead, and how long the device ran them, as
                              parcagpu's library in the process reports it
        --unit WORD           what is counted; --off-cpu: ns (or calls), --cuda: calls (or ns, bytes),
                              --device: ns (or calls; samples of what stalled)
        --trace ID            only for this trace's request; needs a running agent or bridge
        --by-trace            all, below the trace they were for; needs the same
        --out FILE            where to: .html (flame.html) or .folded
      flame FILE...         makes a flame graph of stacks: folded text, a profile of iaprof, or a
                            trace of the PyTorch profiler
        --out FILE            where to: .html (flame.html), .folded, or .json for Perfetto
        --title TEXT          above the graph
        --unit WORD           what the numbers count: samples, calls, ns, us or bytes
        --trace ID            the trace that the stacks are of; of --by-trace only its own
        --requests FILE       of --by-trace only these: a trace id, milliseconds and a model a line
        --model NAME          of them only those of this model
      diff BEFORE AFTER     makes a flame graph of what grew and what shrank; options as above
      diff FILE --slowest N%
                            of record --by-trace: of what grew in the slowest requests, compared
                            with the others; without --requests those that count for most are slow
      import FILE...        sends what other tools recorded as spans: operations from the JSON of NCCL's
                            inspector, below what TRACEPARENT names, if it is set; and from OTLP/JSON
                            queue, prefill and decode below each llm_request of vLLM
        --nccl-maps LIST      name:path,... of maps of nccl-eBPF that are pinned, as its variable
                              NCCL_POLICY_KERNEL_MAPS lists them: attributes of the collectives
      coldstart -- COMMAND  follows the start of a server with all processes that it starts: phases,
                            calls, and a trace below what TRACEPARENT names
        --pid N               follows a process that has begun already, instead of a command
        --ready-url URL       ready when it answers with 200 to 299
        --ready-log REGEX     ready when a line of the command's output has it; else when it ends
        --stop                stops the command once it is ready; else waits until it ends
        --drop-caches         has it read from the disk: drops the page cache of the machine first
        --out FILE            where its calls go, as those of vllm-coldstart-probe (coldstart.jsonl);
                              a timeline goes next to it, as .html
        --desk URL            where the trace desk serves its page: it links the timeline
        --bucket-ms N         how many calls began in every N ms
      coldstart report FILE tables of the calls in such a file; --bucket-ms as above
      coldstart compare BEFORE AFTER
                            the calls of two such files

      policy check NAME...  has the kernel verify policies: programs that decide which calls of CUDA and
                            NCCL become events. A NAME is keep-all, rate-limit, slow-only, adaptive,
                            slo, the profiler latency, or a file made with inferspan_policy.h
      policy load NAME      puts it into the running bridge, in place of the one before (also: swap)
        --floor N             one call of a kind in N is kept, whatever a policy answers (100)
        --per-second N        of rate-limit: keeps N calls of a kind a second (1000)
        --percentile N        of slow-only and latency: calls above it are slow (99)
        --one-in N            of adaptive: keeps one call in N while all is as usual (64)
        --target-ms N         of slo: the longest that a request waits for its answer's first byte (500)
      policy list           the policies of the running bridge, and what they kept, folded and dropped
      policy rollback       puts the policy before back; with --profiler, the profiler
      policy off            removes them: every call is kept

      --help, --version

      Settings of the environment, for the agent (OTEL_* also for coldstart and import):
        OTEL_EXPORTER_OTLP_ENDPOINT    where spans go (http://localhost:4317); all other OTEL_*
                                       variables hold as well
        OTEL_SERVICE_NAME              whose spans they are (inferspan-ebpf-agent)
        OTEL_TRACES_SAMPLER            which steps of engines are recorded (one in ten); requests are
                                       sampled by their traceparent
        INFERSPAN_EBPF_SCOPE           as the options say it: everything, or a list such as
                                       command:python3,cgroup:/sys/fs/cgroup/serving
        INFERSPAN_EBPF_EVENTS          cuda,nccl,syscalls,sched,tcp,ckp (all)
        INFERSPAN_EBPF_PATHS           true lets paths of files leave (false)
        INFERSPAN_EBPF_SINGLE_FROM     what took as long is a span of its own (1ms)
        INFERSPAN_EBPF_IGNORE_BELOW    system calls and delays that are shorter are left out (0ms)
        INFERSPAN_EBPF_SLEEP_AFTER     without a sampled request for so long, probes that only serve
                                       requests are taken off until the next; 0s is never (60s)
        INFERSPAN_EBPF_BUDGET          what tracing may cost: 1% of a core, 1%node, 20000/s events;
                                       detail is lowered to hold it (no limit)
        INFERSPAN_EBPF_MEASURE_PROGRAMS
                                       true, as the option says it (false)
        INFERSPAN_EBPF_RING_BYTES      room for events on their way, a power of two (16777216)
        INFERSPAN_EBPF_SHARED_CONTEXTS off, or read,publish: contexts of and for OpenTelemetry's
                                       other programs on this machine (off)
        INFERSPAN_EBPF_BPF_FILESYSTEM  where those are shared (/sys/fs/bpf)

      Exit status: 0 done, 1 it cannot work here, or was never ready; 2 the command line
      or a setting is wrong.
      agent, doctor, record and coldstart (not report, compare) need root, or CAP_BPF and
      CAP_PERFMON; top, policy, and record with --trace or --by-trace, need root, or
      CAP_SYS_ADMIN.
      """
          .stripTrailing();

  private HelpText() {}
}
