package io.inferspan.response;

import io.inferspan.json.EightBytes;
import io.inferspan.json.JsonScanner;
import io.inferspan.json.StringHash;
import java.nio.ByteBuffer;

/**
 * Parses a stream of server-sent events. Passes an event's data to the {@link JsonScanner} and its
 * name to {@link ResponseFacts}, and skips everything else.
 */
final class EventStream {

  // The part of an event that contains the next byte.
  private static final int FIELD_NAME = 0;
  private static final int DATA = 1;
  private static final int EVENT_NAME = 2;
  private static final int REST_OF_LINE = 3;

  private static final long DATA_FIELD = 'd' | 'a' << 8 | 't' << 16 | (long) 'a' << 24;
  private static final long EVENT_FIELD = 'e' | 'v' << 8 | 'e' << 16 | 'n' << 24 | (long) 't' << 32;
  private static final long DATA_BEGINS = DATA_FIELD | (long) ':' << 32 | (long) ' ' << 40;
  private static final long SIX_BYTES = (1L << 48) - 1;
  private static final long BYTE_ORDER_MARK = 0xBFBBEF;

  private final ResponseFacts facts;
  private final JsonScanner json;
  private final StringHash eventName = new StringHash();
  private final EventTemplate template = new EventTemplate();

  /** The choices that have content in the event stored in {@link #template}. */
  private int templateChoices;

  private int within = FIELD_NAME;

  /** Set if the next byte is the first of an event. */
  private boolean atEventStart = true;

  /** Set if the last byte was a carriage return, which a line feed may follow. */
  private boolean afterReturn;

  private boolean afterColon;
  private long name;
  private int nameBytes;

  EventStream(ResponseFacts facts) {
    this.facts = facts;
    this.json = new JsonScanner(ResponseGrammar.GRAMMAR, facts);
  }

  void see(ByteBuffer bytes, long nowNanos) {
    int end = bytes.limit();
    int at = bytes.position();
    while (at < end) {
      if (atEventStart && !afterReturn) {
        int next = template.match(bytes, at, end);
        if (next > at) {
          facts.token(nowNanos, templateChoices);
          at = next;
        } else {
          at = wholeEvent(bytes, at, end, nowNanos);
        }
      } else {
        at = readOn(bytes, at, end, nowNanos);
      }
    }
  }

  /** Reads an event from its first byte, and stores it if it is complete. */
  private int wholeEvent(ByteBuffer bytes, int from, int end, long nowNanos) {
    long tokens = facts.tokens + 1;
    facts.otherData = false;
    json.forgetContent();
    int at = from;
    do {
      at = readOn(bytes, at, end, nowNanos);
    } while (at < end && !atEventStart);
    boolean ended = atEventStart && !afterReturn;
    if (ended && json.contentAt() >= 0 && facts.tokens == tokens && !facts.otherData) {
      template.store(bytes, from, json.contentAt(), at);
      templateChoices = facts.lastChoices;
    }
    return at;
  }

  private int readOn(ByteBuffer bytes, int at, int end, long nowNanos) {
    return switch (within) {
      case FIELD_NAME -> fieldName(bytes, at, end);
      case DATA -> data(bytes, at, end, nowNanos);
      case EVENT_NAME -> eventName(bytes, at, end);
      default -> restOfLine(bytes, at, end);
    };
  }

  private int fieldName(ByteBuffer bytes, int from, int end) {
    if (nameBytes == 0
        && end - from >= Long.BYTES
        && (EightBytes.at(bytes, from) & SIX_BYTES) == DATA_BEGINS) {
      value(DATA);
      afterColon = false;
      return from + 6;
    }
    for (int at = from; at < end; at++) {
      byte next = bytes.get(at);
      if (EightBytes.isBreak(next)) {
        emptyField(next);
        return at + 1;
      } else if (next == ':') {
        value(name == DATA_FIELD ? DATA : named());
        return at + 1;
      } else if (nameBytes == Long.BYTES) {
        value(REST_OF_LINE);
        return at;
      } else {
        addToName(next);
      }
    }
    return end;
  }

  private int named() {
    return name == EVENT_FIELD ? EVENT_NAME : REST_OF_LINE;
  }

  private void value(int next) {
    within = next;
    atEventStart &= next == FIELD_NAME;
    afterReturn = false;
    afterColon = true;
    name = 0;
    nameBytes = 0;
    eventName.clear();
  }

  private void addToName(byte next) {
    atEventStart = false;
    afterReturn = false;
    name |= (next & 0xffL) << (Byte.SIZE * nameBytes++);
    if (name == BYTE_ORDER_MARK) {
      name = 0;
      nameBytes = 0;
    }
  }

  /** Ends the event at an empty line, unless that is the second half of a CRLF. */
  private void emptyField(byte lineBreak) {
    boolean secondHalf = afterReturn && lineBreak == '\n';
    if (nameBytes == 0 && !secondHalf) {
      json.restart();
      atEventStart = true;
    }
    lineEnds(lineBreak);
  }

  private void lineEnds(byte lineBreak) {
    value(FIELD_NAME);
    afterReturn = lineBreak == '\r';
  }

  private int data(ByteBuffer bytes, int from, int end, long nowNanos) {
    int begin = afterColon && bytes.get(from) == ' ' ? from + 1 : from;
    afterColon = false;
    int at = json.scan(bytes, begin, end, nowNanos);
    return at < end ? lineBreak(bytes, at) : at;
  }

  private int lineBreak(ByteBuffer bytes, int at) {
    lineEnds(bytes.get(at));
    return at + 1;
  }

  private int eventName(ByteBuffer bytes, int from, int end) {
    int begin = afterColon && bytes.get(from) == ' ' ? from + 1 : from;
    afterColon = false;
    int at = eventName.read(bytes, begin, end);
    if (at < end) {
      if (EightBytes.isBreak(bytes.get(at))) {
        facts.keyword(ResponseGrammar.GRAMMAR.find(Node.TYPE, eventName.value()));
      }
      within = REST_OF_LINE;
    }
    return at;
  }

  private int restOfLine(ByteBuffer bytes, int from, int end) {
    int at = from;
    while (at < end && !EightBytes.isBreak(bytes.get(at))) {
      at++;
    }
    return at < end ? lineBreak(bytes, at) : at;
  }
}
