package io.inferspan.ebpf.nccl;

/**
 * A communicator as one rank created it.
 *
 * @param id the hash by which NCCL identifies it; the same on all ranks, as in NCCL's inspector
 * @param rank the rank of the process that created it
 * @param ranks the number of its ranks
 */
public record Communicator(String id, int rank, int ranks) {}
