package io.inferspan.kvcache.events;

/**
 * Reports malformed bytes.
 *
 * <p>There is only one instance, without a stack trace, because a hostile peer can cause millions
 * of such errors.
 */
final class MalformedException extends Exception {

  @SuppressWarnings("StaticAssignmentOfThrowable") // It has no trace that could mislead.
  static final MalformedException INSTANCE = new MalformedException();

  private MalformedException() {
    super("malformed", null, false, false);
  }
}
