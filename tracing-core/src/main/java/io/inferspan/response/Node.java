package io.inferspan.response;

import static io.inferspan.json.NodeType.CONTENT;
import static io.inferspan.json.NodeType.COUNT;
import static io.inferspan.json.NodeType.KEYWORD;
import static io.inferspan.json.NodeType.LIST;
import static io.inferspan.json.NodeType.OBJECT;
import static io.inferspan.json.NodeType.TEXT;

import io.inferspan.json.NodeType;

/** The nodes of {@link ResponseGrammar}; their {@link NodeType} selects how a value is reported. */
final class Node {

  static final int NOTHING = NodeType.NOTHING;

  /** The whole JSON of a body or of one event. */
  static final int ROOT = NodeType.ROOT;

  static final int CHOICE = OBJECT | 1;
  static final int CHOICES = LIST | 1;
  static final int TOOL_CALL = OBJECT | 2;
  static final int TOOL_CALLS = LIST | 2;
  static final int TOKEN_ID = COUNT | 3;
  static final int TOKEN_IDS = LIST | 3;

  /** The document {@code [DONE]} at the end of a stream, which is read as an array. */
  static final int DONE_LIST = LIST | 4;

  static final int DONE = NodeType.LITERAL;

  /** A response or message within an event. */
  static final int DOCUMENT = OBJECT | 5;

  /** The {@code delta} of a chat completion. */
  static final int DELTA = OBJECT | 6;

  static final int FUNCTION = OBJECT | 7;
  static final int USAGE = OBJECT | 8;
  static final int USAGE_DETAILS = OBJECT | 9;
  static final int INCOMPLETE = OBJECT | 10;

  /**
   * The {@code delta} of an event: an object in Anthropic's API, a string in OpenAI's responses
   * API.
   */
  static final int EVENT_DELTA = OBJECT | CONTENT | 11;

  /** An error object, or the error text that some engines send instead. */
  static final int ERROR = OBJECT | CONTENT | 12;

  /** The {@code content} of a delta: a string, or a list as in Mistral's API. */
  static final int PARTS = LIST | CONTENT | 13;

  static final int PART = OBJECT | 13;

  /** The {@code thinking} of a part. */
  static final int THOUGHTS = LIST | 14;

  static final int THOUGHT = OBJECT | 14;

  /** The {@code type} of an event. */
  static final int TYPE = KEYWORD | 1;

  /** The {@code object} of a response, which identifies its type. */
  static final int KIND = KEYWORD | 2;

  /** The meaning of a {@link #TYPE} or {@link #KIND} that ends the response. */
  static final int END = 1;

  /** The meaning of a {@link #TYPE} or {@link #KIND} that reports an error. */
  static final int FAILURE = 2;

  static final int MODEL = TEXT | 1;
  static final int STATUS = TEXT | 2;

  /** The finish reason of one of several choices. */
  static final int CHOICE_REASON = TEXT | 3;

  /** The finish reason of the only choice. */
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

  private Node() {}
}
