package io.inferspan.response;

/** Where in a JSON document a reader is: at one {@link Place}, on the way to another. */
final class JsonPath {

  private int place = Place.NOWHERE;

  /** The places around this one, a byte each; the grammar has no way deeper than eight. */
  private long around;

  private boolean isErrorObject;

  /** The place of the value that comes next or is being read. */
  int value = Place.ROOT;

  /** Whether the next string is a key. */
  boolean keyNext;

  void restart() {
    isErrorObject = false;
    leaveAll();
  }

  private void leaveAll() {
    place = Place.NOWHERE;
    value = Place.ROOT;
    around = 0;
    keyNext = false;
  }

  /** Goes into an object or a list; false where it means nothing. */
  boolean enter(byte bracket) {
    boolean list = bracket == '[';
    int next = list && place == Place.NOWHERE ? Place.MARKS : value;
    if (list ? !Place.isList(next) : !Place.isObject(next)) {
      return false;
    }
    around = around << Byte.SIZE | place;
    place = next;
    comma();
    return true;
  }

  /** Leaves an object or a list and returns what it was. */
  int leave() {
    int left = place;
    if (left != Place.NOWHERE) {
      place = (int) (around & 0xff);
      around >>>= Byte.SIZE;
      value = Place.NOTHING;
      keyNext = false;
      if (place == Place.NOWHERE) {
        leaveAll();
      }
    }
    return left;
  }

  void comma() {
    keyNext = Place.isObject(place);
    value = keyNext ? Place.NOTHING : Place.element(place);
  }

  void key(long word) {
    value = Grammar.find(place, word);
    if (isErrorObject && value == Place.TYPE) {
      value = Place.ERROR_TYPE;
    }
  }

  /** The object says of itself that it is an error: its type is the error's. */
  void isErrorObject() {
    isErrorObject = true;
  }
}
