/** Analyses the cold start of a model server: its calls, its phases, and the gaps between them. */
@NullMarked
package io.inferspan.ebpf.coldstart;

import org.jspecify.annotations.NullMarked;
