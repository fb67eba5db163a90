@NullMarked
package io.inferspan.pd.metrics;

import org.jspecify.annotations.NullMarked;
