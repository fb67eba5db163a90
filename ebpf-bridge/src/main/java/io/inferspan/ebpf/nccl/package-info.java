/** NCCL's communicators, and the order of collectives on their ranks. */
@NullMarked
package io.inferspan.ebpf.nccl;

import org.jspecify.annotations.NullMarked;
