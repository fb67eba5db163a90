package io.inferspan.response;

/**
 * The places of a JSON document that mean something; every other place is passed over.
 *
 * <p>A place is a number, and its bits say what is read there: whatever else stands there is passed
 * over. Those that hold others fit a byte.
 */
final class Place {

  private static final int OBJECT = 0x10;
  private static final int LIST = 0x20;

  /** A text of which only is told that it is there. */
  static final int CONTENT = 0x40;

  /** One of few words. */
  static final int WORD = 0x100;

  static final int TEXT = 0x200;
  static final int COUNT = 0x400;

  /** A bare word. */
  static final int MARK = 0x800;

  static final int NOTHING = 0;

  /** The document of a body, or of one event. */
  static final int ROOT = OBJECT;

  /** Outside of any document. */
  static final int NOWHERE = LIST;

  static final int CHOICE = OBJECT | 1;
  static final int CHOICES = LIST | 1;
  static final int TOOL_CALL = OBJECT | 2;
  static final int TOOL_CALLS = LIST | 2;
  static final int TOKEN_ID = COUNT | 3;
  static final int TOKEN_IDS = LIST | 3;

  /** {@code [DONE]}. */
  static final int MARKS = LIST | 4;

  /** A response or message within an event. */
  static final int DOCUMENT = OBJECT | 5;

  /** What a chat completion adds. */
  static final int DELTA = OBJECT | 6;

  static final int FUNCTION = OBJECT | 7;
  static final int USAGE = OBJECT | 8;
  static final int USAGE_DETAILS = OBJECT | 9;
  static final int INCOMPLETE = OBJECT | 10;

  /** What an event adds: an object in Anthropic's API, a text in OpenAI's. */
  static final int EVENT_DELTA = OBJECT | CONTENT | 11;

  /** An error, or the sentence that some engines have instead. */
  static final int ERROR = OBJECT | CONTENT | 12;

  /** The kind of an event. */
  static final int TYPE = WORD | 1;

  /** The kind of an object. */
  static final int KIND = WORD | 2;

  /** What a type can mean. */
  static final int END = 1;

  static final int FAILURE = 2;

  static final int MODEL = TEXT | 1;
  static final int STATUS = TEXT | 2;

  /** Why one completion of several ended. */
  static final int CHOICE_REASON = TEXT | 3;

  /** Why the only completion ended. */
  static final int REASON = TEXT | 4;

  static final int ERROR_TYPE = TEXT | 5;
  static final int ERROR_CODE = TEXT | COUNT;

  static final int INDEX = COUNT | 4;
  static final int PROMPT = COUNT | 5;
  static final int COMPLETION = COUNT | 6;
  static final int CACHED = COUNT | 7;
  static final int CACHE_READ = COUNT | 8;
  static final int CACHE_WRITTEN = COUNT | 9;
  static final int REASONING = COUNT | 10;

  private Place() {}

  static boolean isObject(int place) {
    return (place & OBJECT) != 0;
  }

  static boolean isList(int place) {
    return (place & LIST) != 0;
  }

  /** The place of a list's elements. */
  static int element(int list) {
    return switch (list) {
      case TOKEN_IDS -> TOKEN_ID;
      case MARKS -> MARK;
      default -> list ^ (LIST | OBJECT);
    };
  }
}
