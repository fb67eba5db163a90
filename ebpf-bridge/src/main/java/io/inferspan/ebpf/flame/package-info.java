/**
 * Counted stacks and what is made of them: folded text, flame graphs and their differences, and
 * traces for Perfetto.
 *
 * <p>A stack is one line of frames, from the root on, with {@code ;} between them. What a frame is
 * shows in how it ends: {@code _[k]} in the kernel, {@code _[G]} on the GPU, {@code _[g]} detail of
 * what ran there; {@code -} separates CPU from GPU.
 */
@NullMarked
package io.inferspan.ebpf.flame;

import org.jspecify.annotations.NullMarked;
