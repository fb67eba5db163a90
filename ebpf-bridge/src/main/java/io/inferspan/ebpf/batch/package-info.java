/**
 * Steps of engines that run many requests at once: the requests in each step, called its members,
 * and their shares of its busy time.
 *
 * <p>Everything runs on the ring's thread and has bounded size. The members are known from the
 * marks that an engine's plugin sets ({@code inferspan_ckp.h}), or from the engine's messages. Lost
 * records are not guessed; they lower the coverage that spans report.
 */
@NullMarked
package io.inferspan.ebpf.batch;

import org.jspecify.annotations.NullMarked;
