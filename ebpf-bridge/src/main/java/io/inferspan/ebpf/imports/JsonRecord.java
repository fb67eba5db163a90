package io.inferspan.ebpf.imports;

import com.fasterxml.jackson.core.JsonLocation;
import io.inferspan.ebpf.flame.StackFormatException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An object of a JSON file. A member that is missing or has another type is an error at the
 * position of the outermost object.
 *
 * @param path the path to this object, each name followed by a dot
 */
record JsonRecord(Map<?, ?> members, String path, JsonLocation begin) {

  private static final long NANOS_PER_MICRO = 1000;

  /** A quarter of the range, so that sums of times do not overflow. */
  private static final long MAX_NANOS = Long.MAX_VALUE / 4;

  boolean has(String name) {
    return members.containsKey(name);
  }

  JsonRecord object(String name) throws StackFormatException {
    if (members.get(name) instanceof Map<?, ?> object) {
      return new JsonRecord(object, path + name + ".", begin);
    }
    throw expected("an object", name);
  }

  /** Returns the objects of a list; an empty list if the member is missing. */
  List<JsonRecord> objects(String name) throws StackFormatException {
    List<JsonRecord> objects = new ArrayList<>();
    Object list = members.get(name);
    if (list != null && !(list instanceof List<?>)) {
      throw expected("a list", name);
    }
    for (Object member : list instanceof List<?> all ? all : List.of()) {
      if (!(member instanceof Map<?, ?> object)) {
        throw expected("objects", name);
      }
      objects.add(new JsonRecord(object, path + name + ".", begin));
    }
    return objects;
  }

  String text(String name) throws StackFormatException {
    if (members.get(name) instanceof String text) {
      return text;
    }
    throw expected("a string", name);
  }

  @Nullable String textOrNull(String name) throws StackFormatException {
    return has(name) ? text(name) : null;
  }

  /** Returns a non-negative integer; OTLP/JSON writes 64-bit integers as strings. */
  long count(String name) throws StackFormatException {
    Object value = members.get(name);
    if (value instanceof Long || value instanceof Integer) {
      long number = ((Number) value).longValue();
      if (number >= 0) {
        return number;
      }
    } else if (value instanceof String text && text.matches("[0-9]{1,18}|[1-8][0-9]{18}")) {
      return Long.parseLong(text);
    }
    throw expected("a whole number", name);
  }

  @Nullable Long countOrNull(String name) throws StackFormatException {
    return has(name) ? count(name) : null;
  }

  /** Returns a time that is in microseconds, converted to nanoseconds. */
  long microsAsNanos(String name) throws StackFormatException {
    if (members.get(name) instanceof Number number) {
      double nanos = number.doubleValue() * NANOS_PER_MICRO;
      if (nanos >= 0 && nanos < MAX_NANOS) {
        boolean whole = number instanceof Long || number instanceof Integer;
        return whole ? number.longValue() * NANOS_PER_MICRO : Math.round(nanos);
      }
    }
    throw expected("microseconds", name);
  }

  @Nullable Double numberOrNull(String name) throws StackFormatException {
    if (has(name) && !(members.get(name) instanceof Number)) {
      throw expected("a number", name);
    }
    return members.get(name) instanceof Number number ? number.doubleValue() : null;
  }

  StackFormatException expected(String what, String name) {
    return new StackFormatException(
        begin.getLineNr(), begin.getColumnNr(), what + " '" + path + name + "' in this object");
  }
}
