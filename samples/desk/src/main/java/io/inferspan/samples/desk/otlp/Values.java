package io.inferspan.samples.desk.otlp;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads attributes, and checks that they can be read. */
final class Values {

  /** A hostile sender's nesting would else end in an overflow of the stack. */
  private static final int MAX_DEPTH = 16;

  private static final int MAX_TEXT_BYTES = SpanParser.MAX_PART_BYTES;

  private Values() {}

  /** Reads a pair into the map; a key that comes twice has its last value. */
  static void pair(ProtoReader in, Map<String, Object> into, int depth) throws MalformedException {
    String key = "";
    Object value = "";
    while (in.next()) {
      switch (in.field()) {
        case Field.KEY -> key = text(in.message());
        case Field.VALUE -> value = any(in.message(), depth);
        default -> in.skip();
      }
    }
    into.put(key, value);
  }

  private static Object any(ProtoReader in, int depth) throws MalformedException {
    if (depth > MAX_DEPTH) {
      throw new MalformedException("an attribute is nested deeper than " + MAX_DEPTH);
    }
    Object value = "";
    while (in.next()) {
      switch (in.field()) {
        case Field.STRING_VALUE -> value = text(in.message());
        case Field.BOOL_VALUE -> value = in.number() != 0;
        case Field.INT_VALUE -> value = in.number();
        case Field.DOUBLE_VALUE -> value = Double.longBitsToDouble(in.fixed64());
        case Field.ARRAY_VALUE -> value = list(in.message(), depth + 1);
        case Field.KVLIST_VALUE -> value = map(in.message(), depth + 1);
        case Field.BYTES_VALUE -> value = base64(in.message());
        default -> in.skip();
      }
    }
    return value;
  }

  private static List<Object> list(ProtoReader in, int depth) throws MalformedException {
    List<Object> list = new ArrayList<>();
    while (in.next()) {
      if (in.field() == Field.LIST_VALUES) {
        list.add(any(in.message(), depth));
      } else {
        in.skip();
      }
    }
    return list;
  }

  private static Map<String, Object> map(ProtoReader in, int depth) throws MalformedException {
    Map<String, Object> map = new LinkedHashMap<>();
    while (in.next()) {
      if (in.field() == Field.LIST_VALUES) {
        pair(in.message(), map, depth);
      } else {
        in.skip();
      }
    }
    return map;
  }

  private static String base64(ProtoReader in) {
    return Base64.getEncoder()
        .encodeToString(Arrays.copyOfRange(in.bytes(), in.position(), in.end()));
  }

  static String text(ProtoReader in) {
    return Texts.cut(in.bytes(), in.position(), in.remaining(), MAX_TEXT_BYTES);
  }

  /** Walks over a pair as {@link #pair} would, and makes nothing. */
  static void check(ProtoReader in, int depth) throws MalformedException {
    while (in.next()) {
      switch (in.field()) {
        case Field.KEY -> in.message();
        case Field.VALUE -> checkAny(in.message(), depth);
        default -> in.skip();
      }
    }
  }

  private static void checkAny(ProtoReader in, int depth) throws MalformedException {
    if (depth > MAX_DEPTH) {
      throw new MalformedException("an attribute is nested deeper than " + MAX_DEPTH);
    }
    while (in.next()) {
      switch (in.field()) {
        case Field.STRING_VALUE, Field.BYTES_VALUE -> in.message();
        case Field.BOOL_VALUE, Field.INT_VALUE -> in.number();
        case Field.DOUBLE_VALUE -> in.fixed64();
        case Field.ARRAY_VALUE -> checkList(in.message(), false, depth + 1);
        case Field.KVLIST_VALUE -> checkList(in.message(), true, depth + 1);
        default -> in.skip();
      }
    }
  }

  private static void checkList(ProtoReader in, boolean pairs, int depth)
      throws MalformedException {
    while (in.next()) {
      if (in.field() != Field.LIST_VALUES) {
        in.skip();
      } else if (pairs) {
        check(in.message(), depth);
      } else {
        checkAny(in.message(), depth);
      }
    }
  }
}
