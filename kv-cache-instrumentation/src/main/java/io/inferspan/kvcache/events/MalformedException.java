package io.inferspan.kvcache.events;

/**
 * Says that bytes are not what they should be.
 *
 * <p>It is one object without a stack trace: a hostile peer can cause millions of them.
 */
final class MalformedException extends Exception {

  @SuppressWarnings("StaticAssignmentOfThrowable") // It has no trace that could mislead.
  static final MalformedException INSTANCE = new MalformedException();

  private MalformedException() {
    super("malformed", null, false, false);
  }
}
