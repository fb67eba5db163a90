package io.inferspan.epp;

/** A plugin of endpoint picking, identified by its type and its configured name. */
public interface Plugin {

  /** Returns the plugin's type, such as {@code queue-scorer}. */
  String type();

  /** Returns the plugin's name, which distinguishes plugins of the same type. */
  default String name() {
    return type();
  }
}
