/**
 * Counted stacks and their output formats: folded text, flame graphs, differences of two flame
 * graphs, and traces for Perfetto.
 *
 * <p>A stack is one line of frames, from the root on, separated by {@code ;}. The suffix of a frame
 * shows its kind: {@code _[k]} in the kernel, {@code _[G]} on the GPU, {@code _[g]} detail of GPU
 * work. The frame {@code -} separates CPU from GPU.
 */
@NullMarked
package io.inferspan.ebpf.flame;

import org.jspecify.annotations.NullMarked;
