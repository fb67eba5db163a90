package io.inferspan.ebpf.coldstart;

import io.inferspan.ebpf.wire.CallNumber;
import io.inferspan.ebpf.wire.Kind;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The numbers of calls in files of {@code coldstart}. Numbers below 1000 are system calls of
 * x86-64. Library calls 1000 to 1003 are numbered as in vllm-coldstart-probe; the numbers from 1004
 * on are the bridge's own and never change.
 */
final class CallIds {

  static final long FIRST_LIBRARY_CALL = 1000;

  /** A kind of event that covers several calls has the number of the best-known one. */
  private static final String TABLE =
      """
      0 read SYSCALL_READ
      1 write SYSCALL_WRITE
      3 close SYSCALL_CLOSE
      7 poll SYSCALL_POLL
      9 mmap SYSCALL_MMAP
      16 ioctl SYSCALL_IOCTL_GPU
      23 select SYSCALL_SELECT
      42 connect SYSCALL_CONNECT
      43 accept SYSCALL_ACCEPT
      44 sendto SYSCALL_SEND
      45 recvfrom SYSCALL_RECV
      74 fsync SYSCALL_FSYNC
      202 futex SYSCALL_FUTEX
      232 epoll_wait SYSCALL_EPOLL_WAIT
      257 openat SYSCALL_OPENAT
      1000 cuInit CUDA_INIT
      1001 cuModuleLoadData CUDA_MODULE_LOAD
      1002 cuMemAlloc_v2 CUDA_ALLOC
      1003 cuLaunchKernel CUDA_LAUNCH
      1004 cuGraphLaunch CUDA_GRAPH_LAUNCH
      1005 cuStreamSynchronize CUDA_STREAM_SYNC
      1006 cuEventSynchronize CUDA_EVENT_SYNC
      1007 cuCtxSynchronize CUDA_DEVICE_SYNC
      1008 cuMemcpyHtoD_v2 CUDA_MEMCPY_H2D
      1009 cuMemcpyDtoH_v2 CUDA_MEMCPY_D2H
      1010 cuMemcpyDtoD_v2 CUDA_MEMCPY_D2D
      1011 cuMemcpy CUDA_MEMCPY
      1012 cuMemsetD8_v2 CUDA_MEMSET
      1013 cuMemFree_v2 CUDA_FREE
      1014 cuMemHostRegister_v2 CUDA_HOST_REGISTER
      1015 cuEventRecord CUDA_EVENT_RECORD
      1016 cuStreamBeginCapture_v2 CUDA_CAPTURE_BEGIN
      1017 cuStreamEndCapture CUDA_CAPTURE_END
      1018 cuGraphInstantiate CUDA_GRAPH_INSTANTIATE
      1019 cuModuleGetFunction CUDA_GET_FUNCTION
      1020 cuMemCreate CUDA_MEM_CREATE
      1021 cuMemRelease CUDA_MEM_RELEASE
      1022 cuMemMap CUDA_MEM_MAP
      1023 cuMemUnmap CUDA_MEM_UNMAP
      1024 cuMemHostAlloc CUDA_HOST_ALLOC
      1025 cuMemFreeHost CUDA_HOST_FREE
      1026 cuEventQuery CUDA_EVENT_QUERY
      1027 cuStreamQuery CUDA_STREAM_QUERY
      1100 ncclAllReduce NCCL_ALL_REDUCE
      1101 ncclAllGather NCCL_ALL_GATHER
      1102 ncclReduceScatter NCCL_REDUCE_SCATTER
      1103 ncclBroadcast NCCL_BROADCAST
      1104 ncclReduce NCCL_REDUCE
      1105 ncclSend NCCL_SEND
      1106 ncclRecv NCCL_RECV
      1107 ncclCommInitRank NCCL_COMM_INIT
      1108 ncclGroupEnd NCCL_GROUP_END
      """;

  private static final @Nullable String[] SYSTEM_CALLS = CallNumber.names("x86_64");
  private static final Map<Long, String> NAMES = new HashMap<>();
  private static final Map<Kind, Long> NUMBERS = new EnumMap<>(Kind.class);

  static {
    for (String line : TABLE.lines().toList()) {
      String[] words = line.split(" ", 3);
      NAMES.put(Long.valueOf(words[0]), words[1]);
      NUMBERS.put(Kind.valueOf(words[2]), Long.valueOf(words[0]));
    }
  }

  private CallIds() {}

  /**
   * Returns the number of a kind of call; null for kinds that are not calls, such as time off the
   * CPU.
   */
  static @Nullable Long of(Kind kind) {
    return NUMBERS.get(kind);
  }

  static String name(long call) {
    String name = NAMES.get(call);
    if (name == null && call >= 0 && call < SYSTEM_CALLS.length) {
      name = SYSTEM_CALLS[(int) call];
    }
    return name != null ? name : "call " + call;
  }
}
