package io.inferspan.epp;

import java.util.Map;

/** Has the last word before the request leaves; it must not block. */
public interface PreRequest extends Plugin {

  /** Prepares the request's headers, or only takes note of where it goes. */
  void prepare(SchedulingResult result, Headers headers);

  /** Returns whether it sets the prefill pod for the P/D proxy, which its span records. */
  default boolean preparesDisaggregation() {
    return false;
  }

  /** The headers of the request that leaves. */
  interface Headers {

    /** Replaces a header, ignoring the case of its name. */
    void set(String name, String value);

    /** Removes a header, ignoring the case of its name. */
    void remove(String name);

    /** Headers in a map that can be changed. */
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
