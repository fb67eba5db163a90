package io.inferspan.response;

import static io.inferspan.json.Places.CONTENT;
import static io.inferspan.json.Places.COUNT;
import static io.inferspan.json.Places.LIST;
import static io.inferspan.json.Places.OBJECT;
import static io.inferspan.json.Places.TEXT;
import static io.inferspan.json.Places.WORD;

import io.inferspan.json.Places;

/** The relevant places of a response; see {@link Places}. */
final class Place {

  static final int NOTHING = Places.NOTHING;

  /** The document of a body, or of one event. */
  static final int ROOT = Places.ROOT;

  static final int CHOICE = OBJECT | 1;
  static final int CHOICES = LIST | 1;
  static final int TOOL_CALL = OBJECT | 2;
  static final int TOOL_CALLS = LIST | 2;
  static final int TOKEN_ID = COUNT | 3;
  static final int TOKEN_IDS = LIST | 3;

  /** {@code [DONE]}. */
  static final int MARKS = LIST | 4;

  static final int MARK = Places.MARK;

  /** A response or message within an event. */
  static final int DOCUMENT = OBJECT | 5;

  /** The increment of a chat completion. */
  static final int DELTA = OBJECT | 6;

  static final int FUNCTION = OBJECT | 7;
  static final int USAGE = OBJECT | 8;
  static final int USAGE_DETAILS = OBJECT | 9;
  static final int INCOMPLETE = OBJECT | 10;

  /** The increment of an event: an object in Anthropic's API, a text in OpenAI's. */
  static final int EVENT_DELTA = OBJECT | CONTENT | 11;

  /** An error object, or the error text that some engines send instead. */
  static final int ERROR = OBJECT | CONTENT | 12;

  /** The kind of an event. */
  static final int TYPE = WORD | 1;

  /** The kind of an object. */
  static final int KIND = WORD | 2;

  /** The meanings of a type. */
  static final int END = 1;

  static final int FAILURE = 2;

  static final int MODEL = TEXT | 1;
  static final int STATUS = TEXT | 2;

  /** The finish reason of one completion of several. */
  static final int CHOICE_REASON = TEXT | 3;

  /** The finish reason of the only completion. */
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
}
