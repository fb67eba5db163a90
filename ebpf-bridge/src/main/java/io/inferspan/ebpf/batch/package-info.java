/**
 * Steps of engines that run many requests at once: the requests in each step, called its members,
 * and their shares of its busy time.
 *
 * <p>Everything runs on the ring's thread and has bounded size. The members are known from marks of
 * the engine ({@code inferspan_ckp.h}) or from its messages. Lost records are not guessed, but
 * lower the coverage.
 */
@NullMarked
package io.inferspan.ebpf.batch;

import org.jspecify.annotations.NullMarked;
