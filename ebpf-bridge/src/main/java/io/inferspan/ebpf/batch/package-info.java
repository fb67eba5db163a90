/**
 * Steps of engines that run many requests at once: the members of each step, and their shares of
 * its busy time.
 *
 * <p>Everything runs on the ring's thread and has bounded size. Membership comes from marks of the
 * engine ({@code inferspan_ckp.h}) or from its messages. Lost records lower the coverage and are
 * never guessed.
 */
@NullMarked
package io.inferspan.ebpf.batch;

import org.jspecify.annotations.NullMarked;
