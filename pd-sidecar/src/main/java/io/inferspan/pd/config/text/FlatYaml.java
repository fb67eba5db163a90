package io.inferspan.pd.config.text;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.common.Anchor;
import org.snakeyaml.engine.v2.events.AliasEvent;
import org.snakeyaml.engine.v2.events.Event;
import org.snakeyaml.engine.v2.events.MappingStartEvent;
import org.snakeyaml.engine.v2.events.NodeEvent;
import org.snakeyaml.engine.v2.events.ScalarEvent;
import org.snakeyaml.engine.v2.events.SequenceStartEvent;
import org.snakeyaml.engine.v2.exceptions.MarkedYamlEngineException;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;
import org.snakeyaml.engine.v2.parser.ParserImpl;
import org.snakeyaml.engine.v2.scanner.StreamReader;

/**
 * One YAML mapping of keys to scalars or lists of scalars.
 *
 * <p>It is parsed event by event: deeper nesting is an error where it starts, aliases are not
 * expanded, and tags never create objects.
 */
public final class FlatYaml {

  /** The value of a key: its texts (none for null or an empty text), and whether it is a list. */
  public record Entry(List<String> texts, boolean list) {}

  private static final int MAX_CHARACTERS = 1 << 20;

  private final Iterator<Event> events;
  private final Map<String, Entry> entries = new LinkedHashMap<>();
  private final Map<Anchor, Entry> anchors = new HashMap<>();

  private FlatYaml(Iterator<Event> events) {
    this.events = events;
  }

  /** Reads {@code text}; an empty one has no keys. */
  public static Map<String, Entry> read(String text) throws TextException {
    if (text.length() > MAX_CHARACTERS) {
      throw new TextException("it is longer than " + MAX_CHARACTERS + " characters");
    }
    LoadSettings settings = LoadSettings.builder().build();
    try {
      StreamReader characters = new StreamReader(settings, withoutTabs(text));
      return new FlatYaml(new ParserImpl(settings, characters)).document();
    } catch (MarkedYamlEngineException e) {
      throw new TextException(String.valueOf(e.getProblem()) + place(e));
    } catch (YamlEngineException e) {
      throw new TextException(oneLine(String.valueOf(e.getMessage())));
    }
  }

  /** Replaces tabs within braces, which Go's YAML parser accepts and this one rejects. */
  private static String withoutTabs(String text) {
    if (!text.stripLeading().startsWith("{")) {
      return text;
    }
    StringBuilder result = new StringBuilder(text);
    boolean indentation = true;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '\t' && indentation) {
        result.setCharAt(i, ' ');
      }
      indentation = c == '\n' || (indentation && (c == '\t' || c == ' '));
    }
    return result.toString();
  }

  private static String place(MarkedYamlEngineException e) {
    return e.getProblemMark()
        .map(mark -> " in line " + (mark.getLine() + 1) + ", column " + (mark.getColumn() + 1))
        .orElse("");
  }

  private static String oneLine(String message) {
    int end = message.indexOf('\n');
    return end < 0 ? message : message.substring(0, end);
  }

  private Map<String, Entry> document() throws TextException {
    events.next();
    if (events.next().getEventId() == Event.ID.StreamEnd) {
      return entries;
    }
    Event root = events.next();
    if (root instanceof MappingStartEvent) {
      mapping();
    } else if (!(root instanceof ScalarEvent scalar && isNull(scalar))) {
      throw new TextException("it must be a mapping of keys to values");
    }
    events.next();
    if (events.next().getEventId() != Event.ID.StreamEnd) {
      throw new TextException("it must be one document");
    }
    return entries;
  }

  private void mapping() throws TextException {
    for (Event event = events.next(); isNode(event); event = events.next()) {
      if (!(event instanceof ScalarEvent key)) {
        throw new TextException("a key must be a plain name");
      }
      if (entries.put(key.getValue(), value(key.getValue())) != null) {
        throw new TextException("the key " + Quoted.text(key.getValue()) + " is there twice");
      }
    }
  }

  private static boolean isNode(Event event) {
    return event.getEventId() != Event.ID.MappingEnd && event.getEventId() != Event.ID.SequenceEnd;
  }

  private Entry value(String key) throws TextException {
    Event event = events.next();
    Entry entry =
        switch (event) {
          case ScalarEvent scalar -> new Entry(texts(scalar), false);
          case SequenceStartEvent _ -> new Entry(items(key), true);
          case AliasEvent alias -> named(alias, key);
          default -> throw tooDeep(key);
        };
    ((NodeEvent) event).getAnchor().ifPresent(anchor -> anchors.put(anchor, entry));
    return entry;
  }

  private List<String> items(String key) throws TextException {
    List<String> items = new ArrayList<>();
    for (Event event = events.next(); isNode(event); event = events.next()) {
      switch (event) {
        case ScalarEvent scalar -> items.addAll(texts(scalar));
        case AliasEvent alias when !named(alias, key).list() ->
            items.addAll(named(alias, key).texts());
        default -> throw tooDeep(key);
      }
    }
    return List.copyOf(items);
  }

  private Entry named(AliasEvent alias, String key) throws TextException {
    Entry entry = anchors.get(alias.getAlias());
    if (entry == null) {
      throw new TextException(
          "the value of " + Quoted.text(key) + " is an alias of nothing that stands before it");
    }
    return entry;
  }

  private static TextException tooDeep(String key) {
    return new TextException("the key " + Quoted.text(key) + " must have a value or a flat list");
  }

  private static List<String> texts(ScalarEvent scalar) {
    return isNull(scalar) || scalar.getValue().isEmpty() ? List.of() : List.of(scalar.getValue());
  }

  private static boolean isNull(ScalarEvent scalar) {
    return scalar.isPlain()
        && switch (scalar.getValue()) {
          case "", "~", "null", "Null", "NULL" -> true;
          default -> false;
        };
  }
}
