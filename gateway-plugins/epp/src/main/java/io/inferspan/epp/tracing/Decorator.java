package io.inferspan.epp.tracing;

import io.inferspan.epp.Plugin;

/** A plugin with the type and the name of the plugin that it decorates. */
interface Decorator extends Plugin {
  Plugin plugin();

  @Override
  default String type() {
    return plugin().type();
  }

  @Override
  default String name() {
    return plugin().name();
  }
}
