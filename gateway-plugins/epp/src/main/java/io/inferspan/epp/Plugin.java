package io.inferspan.epp;

/** Something that has a part in picking endpoints, known by its type and its configured name. */
public interface Plugin {

  /** Returns the plugin's type, such as {@code queue-scorer}. */
  String type();

  /** Its name, where there are two of a kind. */
  default String name() {
    return type();
  }
}
