package io.inferspan.ebpf.cli;

/** A wrong command line. Its message is one sentence for the user. */
final class UsageException extends Exception {

  private static final long serialVersionUID = 1L;

  UsageException(String sentence) {
    super(sentence);
  }
}
