package io.inferspan.epp;

import java.util.Map;

/** A plugin that is called after scheduling, before the request is sent; it must not block. */
public interface PreRequest extends Plugin {

  /** Changes the request's headers, or records its destination. */
  void prepare(SchedulingResult result, Headers headers);

  /**
   * Returns whether the plugin sets the prefill pod for the P/D proxy; its call then has a span.
   */
  default boolean preparesDisaggregation() {
    return false;
  }

  /** The headers of the outgoing request. */
  interface Headers {

    /** Replaces a header, ignoring the case of its name. */
    void set(String name, String value);

    /** Removes a header, ignoring the case of its name. */
    void remove(String name);

    /** Returns headers that are stored in a mutable map. */
    static Headers of(Map<String, String> map) {
      return new Headers() {
        @Override
        public void set(String name, String value) {
          remove(name);
          map.put(name, value);
        }

        @Override
        public void remove(String name) {
          map.keySet().removeIf(name::equalsIgnoreCase);
        }
      };
    }
  }
}
