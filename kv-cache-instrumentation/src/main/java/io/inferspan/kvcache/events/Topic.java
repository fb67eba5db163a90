package io.inferspan.kvcache.events;

import java.nio.charset.StandardCharsets;

/**
 * What a topic says.
 *
 * @param text the topic itself
 * @param pod whose events they are, where nothing else says so
 * @param model the model's name; empty where the topic names none
 */
record Topic(String text, String pod, String model) {

  /** What a replay that says no topic has. */
  static final Topic NONE = new Topic("", "", "");

  /** Reads {@code kv@<pod>@<model>}; any other topic is the pod's name as a whole. */
  static Topic of(byte[] frame) {
    String text = new String(frame, StandardCharsets.UTF_8);
    String[] parts = text.split("@", -1);
    return parts.length == 3 ? new Topic(text, parts[1], parts[2]) : new Topic(text, text, "");
  }
}
