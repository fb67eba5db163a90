package io.inferspan.ebpf.wire;

import org.jspecify.annotations.Nullable;

/** The kind of an event, numbered as {@code ISPAN_KIND_*} in {@code wire.h}. */
public enum Kind {
  CUDA_LAUNCH(1, Family.CUDA, "launch", Amount.BLOCKS, Detail.STREAM),
  CUDA_GRAPH_LAUNCH(2, Family.CUDA, "graph_launch", Amount.NONE, Detail.STREAM),
  CUDA_MEMCPY_H2D(3, Family.CUDA, "memcpy_h2d", Amount.BYTES, Detail.STREAM),
  CUDA_MEMCPY_D2H(4, Family.CUDA, "memcpy_d2h", Amount.BYTES, Detail.STREAM),
  CUDA_MEMCPY_D2D(5, Family.CUDA, "memcpy_d2d", Amount.BYTES, Detail.STREAM),
  CUDA_MEMCPY(6, Family.CUDA, "memcpy", Amount.BYTES, Detail.STREAM),
  CUDA_MEMSET(7, Family.CUDA, "memset", Amount.BYTES, Detail.STREAM),
  CUDA_ALLOC(8, Family.CUDA, "alloc", Amount.BYTES, Detail.NONE),
  CUDA_FREE(9, Family.CUDA, "free", Amount.NONE, Detail.NONE),
  CUDA_STREAM_SYNC(10, Family.CUDA, "stream_sync", Amount.NONE, Detail.STREAM),
  CUDA_EVENT_SYNC(11, Family.CUDA, "event_sync", Amount.NONE, Detail.NONE),
  CUDA_DEVICE_SYNC(12, Family.CUDA, "device_sync", Amount.NONE, Detail.NONE),
  CUDA_MODULE_LOAD(13, Family.CUDA, "module_load", Amount.NONE, Detail.NONE),
  CUDA_INIT(14, Family.CUDA, "init", Amount.NONE, Detail.NONE),
  CUDA_HOST_REGISTER(15, Family.CUDA, "host_register", Amount.BYTES, Detail.NONE),
  CUDA_EVENT_RECORD(16, Family.CUDA, "event_record", Amount.NONE, Detail.STREAM),
  CUDA_CAPTURE_BEGIN(17, Family.CUDA, "capture_begin", Amount.NONE, Detail.STREAM),
  CUDA_CAPTURE_END(18, Family.CUDA, "capture_end", Amount.NONE, Detail.STREAM),
  CUDA_GRAPH_INSTANTIATE(19, Family.CUDA, "graph_instantiate", Amount.NONE, Detail.NONE),
  CUDA_GET_FUNCTION(20, Family.CUDA, "get_function", Amount.NONE, Detail.NONE),
  CUDA_MEM_CREATE(21, Family.CUDA, "mem_create", Amount.BYTES, Detail.NONE),
  CUDA_MEM_RELEASE(22, Family.CUDA, "mem_release", Amount.NONE, Detail.NONE),
  CUDA_MEM_MAP(23, Family.CUDA, "mem_map", Amount.BYTES, Detail.NONE),
  CUDA_MEM_UNMAP(24, Family.CUDA, "mem_unmap", Amount.BYTES, Detail.NONE),
  CUDA_HOST_ALLOC(25, Family.CUDA, "host_alloc", Amount.BYTES, Detail.NONE),
  CUDA_HOST_FREE(26, Family.CUDA, "host_free", Amount.NONE, Detail.NONE),
  CUDA_EVENT_QUERY(27, Family.CUDA, "event_query", Amount.NONE, Detail.NONE),
  CUDA_STREAM_QUERY(28, Family.CUDA, "stream_query", Amount.NONE, Detail.STREAM),

  /** A CUDA kernel that the device ran for an engine, with its times from CUPTI. */
  CUDA_KERNEL(29, Family.CONTROL, "kernel", Amount.NONE, Detail.NONE),

  NCCL_ALL_REDUCE(100, Family.NCCL, "all_reduce", Amount.ELEMENTS, Detail.COLLECTIVE),
  NCCL_ALL_GATHER(101, Family.NCCL, "all_gather", Amount.ELEMENTS, Detail.TRANSFER),
  NCCL_REDUCE_SCATTER(102, Family.NCCL, "reduce_scatter", Amount.ELEMENTS, Detail.COLLECTIVE),
  NCCL_BROADCAST(103, Family.NCCL, "broadcast", Amount.ELEMENTS, Detail.TRANSFER),
  NCCL_REDUCE(104, Family.NCCL, "reduce", Amount.ELEMENTS, Detail.COLLECTIVE),
  NCCL_SEND(105, Family.NCCL, "send", Amount.ELEMENTS, Detail.TRANSFER),
  NCCL_RECV(106, Family.NCCL, "recv", Amount.ELEMENTS, Detail.TRANSFER),
  NCCL_COMM_INIT(107, Family.NCCL, "comm_init", Amount.NONE, Detail.NONE),
  NCCL_GROUP_END(108, Family.NCCL, "group_end", Amount.NONE, Detail.NONE),

  /** The end of a communicator; never written as an event. */
  NCCL_COMM_END(109, Family.CONTROL, "comm_end", Amount.NONE, Detail.NONE),

  SYSCALL_READ(200, Family.SYSCALL, "read", Amount.BYTES, Detail.FD),
  SYSCALL_WRITE(201, Family.SYSCALL, "write", Amount.BYTES, Detail.FD),
  SYSCALL_RECV(202, Family.SYSCALL, "recv", Amount.BYTES, Detail.FD),
  SYSCALL_SEND(203, Family.SYSCALL, "send", Amount.BYTES, Detail.FD),
  SYSCALL_FUTEX(204, Family.SYSCALL, "futex", Amount.NONE, Detail.NONE),
  SYSCALL_POLL(205, Family.SYSCALL, "poll", Amount.NONE, Detail.NONE),
  SYSCALL_EPOLL_WAIT(206, Family.SYSCALL, "epoll_wait", Amount.NONE, Detail.NONE),
  SYSCALL_SELECT(207, Family.SYSCALL, "select", Amount.NONE, Detail.NONE),
  SYSCALL_OPENAT(208, Family.SYSCALL, "openat", Amount.NONE, Detail.PATH),
  SYSCALL_MMAP(209, Family.SYSCALL, "mmap", Amount.BYTES, Detail.NONE),
  SYSCALL_IOCTL_GPU(210, Family.SYSCALL, "ioctl_gpu", Amount.NONE, Detail.NONE),
  SYSCALL_CONNECT(211, Family.SYSCALL, "connect", Amount.NONE, Detail.FD),
  SYSCALL_ACCEPT(212, Family.SYSCALL, "accept", Amount.NONE, Detail.FD),
  SYSCALL_CLOSE(213, Family.SYSCALL, "close", Amount.NONE, Detail.FD),
  SYSCALL_FSYNC(214, Family.SYSCALL, "fsync", Amount.NONE, Detail.FD),

  SCHED_RUNQUEUE(300, Family.SCHED, "runqueue", Amount.NONE, Detail.QUEUED),
  SCHED_OFFCPU(301, Family.SCHED, "offcpu", Amount.NONE, Detail.STATE),

  TCP_CONNECT(320, Family.TCP, "connect", Amount.NONE, Detail.NONE),
  TCP_RETRANSMIT(321, Family.TCP, "retransmit", Amount.NONE, Detail.NONE),

  /** An operation that an application reported with {@code inferspan_ckp.h}. */
  CKP_OPERATION(350, Family.CKP, "operation", Amount.NONE, Detail.OPERATION),

  /** An ioctl that an operation contains. */
  CKP_IOCTL(351, Family.CKP, "ioctl", Amount.NONE, Detail.OPERATION_CALL),

  /** A process mapped a library whose functions may be observed. */
  LIBRARY_APPEARED(400, Family.CONTROL, "library_appeared", Amount.NONE, Detail.NONE),

  /** A process exited. */
  PROCESS_EXITED(401, Family.CONTROL, "process_exited", Amount.NONE, Detail.NONE),

  /** A process executed another program. */
  PROCESS_STARTED(402, Family.CONTROL, "process_started", Amount.NONE, Detail.NONE),

  /** Introduces an {@link Owner}. */
  OWNER_BEGAN(403, Family.CONTROL, "owner_began", Amount.NONE, Detail.NONE),

  /** Reports the end of an {@link Owner}. */
  OWNER_ENDED(404, Family.CONTROL, "owner_ended", Amount.NONE, Detail.NONE),

  /** Assigns a request to a slot of an engine. */
  SLOT_BOUND(405, Family.CONTROL, "slot_bound", Amount.NONE, Detail.NONE),

  /** The requests that join or leave an engine's step, or that got tokens in it. */
  STEP_CHANGES(406, Family.CONTROL, "step_changes", Amount.NONE, Detail.NONE),

  /** A communicator was created. */
  NCCL_COMMUNICATOR(407, Family.CONTROL, "communicator", Amount.NONE, Detail.NONE);

  /** The exclusive limit of the numbers of kinds. */
  public static final int NUMBERS = 512;

  private static final @Nullable Kind[] BY_NUMBER = new @Nullable Kind[NUMBERS];

  static {
    for (Kind kind : values()) {
      BY_NUMBER[kind.number] = kind;
    }
  }

  private final int number;
  private final Family family;
  private final String call;
  private final Amount amount;
  private final Detail detail;

  Kind(int number, Family family, String call, Amount amount, Detail detail) {
    this.number = number;
    this.family = family;
    this.call = call;
    this.amount = amount;
    this.detail = detail;
  }

  /** Returns the kind with this number, or null if it is unknown to this version. */
  public static @Nullable Kind of(int number) {
    return number >= 0 && number < NUMBERS ? BY_NUMBER[number] : null;
  }

  /** Returns the number on the wire. */
  public int number() {
    return number;
  }

  /** Returns its family. */
  public Family family() {
    return family;
  }

  /** Returns the last part of the span's name, such as {@code launch} of {@code cuda.launch}. */
  public String call() {
    return call;
  }

  /** Returns the unit of the amount. */
  public Amount amount() {
    return amount;
  }

  /** Returns the meaning of the detail, which distinguishes events of this kind. */
  public Detail detail() {
    return detail;
  }
}
