package io.inferspan.kvcache.events;

import java.nio.charset.StandardCharsets;

/**
 * The parsed ZeroMQ topic of a message with KV events.
 *
 * @param text the topic itself
 * @param pod the pod whose events it carries; the pod of an {@link EventSource} overrides it
 * @param model the model's name; empty if the topic names none
 */
record Topic(String text, String pod, String model) {

  /** The topic of a replay that has none. */
  static final Topic NONE = new Topic("", "", "");

  /** Parses {@code kv@<pod>@<model>}; any other topic is the pod's name as a whole. */
  static Topic of(byte[] frame) {
    String text = new String(frame, StandardCharsets.UTF_8);
    String[] parts = text.split("@", -1);
    return parts.length == 3 ? new Topic(text, parts[1], parts[2]) : new Topic(text, text, "");
  }
}
