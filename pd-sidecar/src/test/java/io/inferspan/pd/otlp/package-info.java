@NullMarked
package io.inferspan.pd.otlp;

import org.jspecify.annotations.NullMarked;
