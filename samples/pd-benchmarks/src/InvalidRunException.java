/** Thrown if the results of a run are invalid; the message is one sentence for the user. */
final class InvalidRunException extends RuntimeException {
  private static final long serialVersionUID = 1;

  InvalidRunException(String sentence) {
    super(sentence);
  }
}
