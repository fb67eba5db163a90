package io.inferspan.pd.allow;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.async.ByteArrayFeeder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Turns the JSON of a list or a watch into events while it arrives.
 *
 * <p>Both contain objects of the same shape, a list under {@code items} and a watch under {@code
 * object}, so one reader handles both. It keeps only the current object, and of that only about a
 * dozen fields.
 */
final class ObjectReader implements AutoCloseable {
  private static final JsonFactory JSON =
      JsonFactory.builder().disable(JsonFactory.Feature.INTERN_FIELD_NAMES).build();
  private static final String ITEM = "/items";
  private static final String WATCHED = "/object";

  private final JsonParser parser;
  private final ByteArrayFeeder feeder;
  private final Consumer<ObjectEvent> events;

  /** Lengths of {@link #path} to go back to when an object or array ends. */
  private final Deque<Integer> marks = new ArrayDeque<>();

  private final StringBuilder path = new StringBuilder();

  private String type = "";
  private String version = "";
  private int code;
  private String name = "";
  private String phase = "";
  private Set<String> addresses = new LinkedHashSet<>();
  private Map<String, String> selector = new LinkedHashMap<>();

  ObjectReader(Consumer<ObjectEvent> events) {
    this.events = events;
    try {
      this.parser = JSON.createNonBlockingByteArrayParser();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    this.feeder = (ByteArrayFeeder) parser.getNonBlockingInputFeeder();
  }

  /** Reads the next bytes, which may end at any position. */
  void read(byte[] bytes) throws IOException {
    feeder.feedInput(bytes, 0, bytes.length);
    JsonToken token = parser.nextToken();
    while (token != null && token != JsonToken.NOT_AVAILABLE) {
      accept(token);
      token = parser.nextToken();
    }
  }

  @Override
  public void close() throws IOException {
    parser.close();
  }

  private void accept(JsonToken token) throws IOException {
    switch (token) {
      case START_OBJECT, START_ARRAY ->
          marks.addLast(path.length()); // elements have the path of their array
      case END_OBJECT -> leaveObject();
      case END_ARRAY -> leave();
      case FIELD_NAME -> {
        path.setLength(marks.getLast());
        path.append('/').append(parser.currentName());
      }
      case VALUE_NULL -> {}
      default -> value();
    }
  }

  private void leave() {
    path.setLength(marks.removeLast());
  }

  private void leaveObject() {
    leave();
    if (marks.isEmpty()) {
      endOfDocument();
    } else if (path.toString().equals(ITEM)) {
      events.accept(new ObjectEvent.Present(take()));
    }
  }

  private void value() throws IOException {
    String at = path.toString();
    switch (at) {
      case "/type" -> type = parser.getText();
      case "/metadata/resourceVersion", "/object/metadata/resourceVersion" ->
          version = parser.getText();
      case "/object/code" -> code = parser.getValueAsInt();
      default -> {
        if (at.startsWith(ITEM)) {
          objectValue(at.substring(ITEM.length()));
        } else if (at.startsWith(WATCHED)) {
          objectValue(at.substring(WATCHED.length()));
        }
      }
    }
  }

  private void objectValue(String at) throws IOException {
    switch (at) {
      case "/metadata/name" -> name = parser.getText();
      case "/status/phase" -> phase = parser.getText();
      case "/status/podIP", "/status/podIPs/ip" -> addresses.add(parser.getText());
      default -> selectorValue(at);
    }
  }

  /**
   * Reads a label of the selector. Its name is the whole rest of the path, because it may contain
   * slashes and dots.
   */
  private void selectorValue(String at) throws IOException {
    String v1 = "/spec/selector/matchLabels/";
    String v1alpha2 = "/spec/selector/";
    if (at.startsWith(v1)) {
      selector.put(at.substring(v1.length()), parser.getText());
    } else if (at.startsWith(v1alpha2)) {
      selector.put(at.substring(v1alpha2.length()), parser.getText());
    }
  }

  private void endOfDocument() {
    switch (type) {
      case "ADDED", "MODIFIED" -> events.accept(new ObjectEvent.Present(take()));
      case "DELETED" -> events.accept(new ObjectEvent.Gone(take().name()));
      case "ERROR" -> events.accept(new ObjectEvent.Failed(code));
      default -> {} // a list, or a bookmark
    }
    if (!type.equals("ERROR") && !version.isEmpty()) {
      events.accept(new ObjectEvent.UpTo(version));
    }
    type = "";
    version = "";
    take();
  }

  private ObjectState take() {
    boolean over = phase.equals("Succeeded") || phase.equals("Failed");
    ObjectState object = new ObjectState(name, addresses, selector, over);
    name = "";
    phase = "";
    addresses = new LinkedHashSet<>();
    selector = new LinkedHashMap<>();
    return object;
  }
}
