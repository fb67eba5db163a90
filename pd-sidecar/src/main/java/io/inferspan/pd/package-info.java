/** The program: a proxy that runs prefill on another pod and decode on this one. */
@NullMarked
package io.inferspan.pd;

import org.jspecify.annotations.NullMarked;
