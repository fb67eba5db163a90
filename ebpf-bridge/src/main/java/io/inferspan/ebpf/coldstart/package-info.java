/** The cold start of a model server: its calls, its phases, and where the rest of the time went. */
@NullMarked
package io.inferspan.ebpf.coldstart;

import org.jspecify.annotations.NullMarked;
