package io.inferspan.pd.allow;

import static io.inferspan.pd.allow.ObjectState.part;
import static io.inferspan.pd.allow.ObjectState.text;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import io.vertx.core.parsetools.JsonEvent;
import io.vertx.core.parsetools.JsonParser;
import java.util.function.Consumer;

/**
 * Turns the JSON of a list or a watch into events while the JSON arrives. Only the current object
 * is in memory.
 */
final class ObjectReader {
  /** One line of a watch, or one item of a list. */
  sealed interface ObjectEvent {

    /** An object exists, or has changed. */
    record Present(ObjectState object) implements ObjectEvent {}

    /** An object was deleted, or no longer matches. */
    record Gone(String name) implements ObjectEvent {}

    /** The server has ended the watch with an error. */
    record Failed() implements ObjectEvent {}

    /**
     * All events up to {@code version} have been sent. Follows a whole list, each object of a
     * watch, and each bookmark of a watch.
     */
    record UpTo(String version) implements ObjectEvent {}
  }

  private final JsonParser parser = JsonParser.newParser();
  private final Consumer<ObjectEvent> events;

  /** The nesting depth of objects in a list that is being read. */
  private int depth;

  private String version = "";

  private ObjectReader(Consumer<ObjectEvent> events) {
    this.events = events;
  }

  /** Reads one document with objects under {@code items}. */
  static ObjectReader ofList(Consumer<ObjectEvent> events) {
    ObjectReader reader = new ObjectReader(events);
    reader.parser.handler(reader::listed);
    return reader;
  }

  /** Reads documents with one object each. */
  static ObjectReader ofWatch(Consumer<ObjectEvent> events) {
    ObjectReader reader = new ObjectReader(events);
    reader.parser.objectValueMode().handler(reader::watched);
    return reader;
  }

  /**
   * Reads the next bytes, which may end at any position.
   *
   * @throws DecodeException if they are not JSON
   */
  void read(Buffer bytes) {
    parser.handle(bytes);
  }

  private void listed(JsonEvent event) {
    switch (event.type()) {
      case START_OBJECT -> depth++;
      case START_ARRAY -> {
        if ("items".equals(event.fieldName())) {
          parser.objectValueMode();
        }
      }
      case END_ARRAY -> parser.objectEventMode();
      case END_OBJECT -> {
        if (--depth == 0) {
          upTo(version);
        }
      }
      case VALUE -> {
        if (event.isObject()) {
          events.accept(new ObjectEvent.Present(ObjectState.of(event.objectValue())));
        } else if ("resourceVersion".equals(event.fieldName()) && event.isString()) {
          version = event.stringValue();
        }
      }
    }
  }

  private void watched(JsonEvent event) {
    if (!event.isObject()) {
      return;
    }
    JsonObject object = part(event.objectValue(), "object");
    switch (text(event.objectValue(), "type")) {
      case "ADDED", "MODIFIED" -> events.accept(new ObjectEvent.Present(ObjectState.of(object)));
      case "DELETED" -> events.accept(new ObjectEvent.Gone(ObjectState.of(object).name()));
      case "ERROR" -> {
        events.accept(new ObjectEvent.Failed());
        return;
      }
      default -> {} // a bookmark
    }
    upTo(text(part(object, "metadata"), "resourceVersion"));
  }

  private void upTo(String reached) {
    if (!reached.isEmpty()) {
      events.accept(new ObjectEvent.UpTo(reached));
    }
  }
}
