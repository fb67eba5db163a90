package io.inferspan.samples.desk.otlp;

/** The numbers of OTLP's fields that are read or written here. */
final class Field {

  static final int EXPORT_RESOURCE_SPANS = 1;
  static final int RESOURCE = 1;
  static final int SCOPE_SPANS = 2;
  static final int RESOURCE_ATTRIBUTES = 1;
  static final int SCOPE = 1;
  static final int SPANS = 2;
  static final int SCOPE_NAME = 1;

  static final int TRACE_ID = 1;
  static final int SPAN_ID = 2;
  static final int TRACE_STATE = 3;
  static final int PARENT_ID = 4;
  static final int NAME = 5;
  static final int KIND = 6;
  static final int START = 7;
  static final int END = 8;
  static final int ATTRIBUTES = 9;
  static final int DROPPED_ATTRIBUTES = 10;
  static final int EVENTS = 11;
  static final int DROPPED_EVENTS = 12;
  static final int LINKS = 13;
  static final int DROPPED_LINKS = 14;
  static final int STATUS = 15;

  static final int EVENT_TIME = 1;
  static final int EVENT_NAME = 2;
  static final int EVENT_ATTRIBUTES = 3;
  static final int LINK_TRACE_ID = 1;
  static final int LINK_SPAN_ID = 2;
  static final int LINK_ATTRIBUTES = 4;
  static final int STATUS_MESSAGE = 2;
  static final int STATUS_CODE = 3;
  static final int STATUS_ERROR = 2;

  static final int KEY = 1;
  static final int VALUE = 2;
  static final int STRING_VALUE = 1;
  static final int BOOL_VALUE = 2;
  static final int INT_VALUE = 3;
  static final int DOUBLE_VALUE = 4;
  static final int ARRAY_VALUE = 5;
  static final int KVLIST_VALUE = 6;
  static final int BYTES_VALUE = 7;
  static final int LIST_VALUES = 1;

  private Field() {}
}
