package io.inferspan.privacy;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.regex.Pattern;

/** Formats stack traces without the messages of exceptions, which may contain content. */
public final class StackTraceText {

  static final int MAX_FRAMES = 64;

  static final int MAX_CAUSES = 8;

  /** Repetitions are possessive, so that a hostile line does not cause backtracking. */
  private static final Pattern LINE =
      Pattern.compile(
          "(?:Caused by: )?(?:[a-z_]\\w*+\\.)*+[A-Z][\\w$]*+"
              + "|\\tat [\\w.$/@<>-]++\\([\\w.$ -]*+(?::\\d++)?\\)"
              + "|\\t\\.\\.\\. \\d++ more");

  private static final int MAX_TEXT_CHARS = 65_536;

  private StackTraceText() {}

  /** Returns the stack trace of {@code cause} and of its causes, limited in length. */
  public static String of(Throwable cause) {
    try {
      return written(cause);
    } catch (RuntimeException e) {
      return cause.getClass().getName() + "\n";
    }
  }

  private static String written(Throwable cause) {
    StringBuilder text = new StringBuilder(1_024);
    Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    Throwable current = cause;
    while (current != null && seen.size() < MAX_CAUSES && seen.add(current)) {
      text.append(seen.size() == 1 ? "" : "Caused by: ").append(current.getClass().getName());
      text.append('\n');
      appendFrames(text, current.getStackTrace());
      current = current.getCause();
    }
    return text.toString();
  }

  private static void appendFrames(StringBuilder text, StackTraceElement[] frames) {
    int shown = Math.min(frames.length, MAX_FRAMES);
    for (int i = 0; i < shown; i++) {
      text.append("\tat ").append(frames[i]).append('\n');
    }
    if (shown < frames.length) {
      text.append("\t... ").append(frames.length - shown).append(" more\n");
    }
  }

  /**
   * Returns whether {@code text} has the form that {@link #of} creates, which excludes messages: a
   * message begins on the line with the exception's class, so this line does not match.
   */
  static boolean isFreeOfMessages(String text) {
    return text.length() <= MAX_TEXT_CHARS
        && text.lines().allMatch(line -> LINE.matcher(line).matches());
  }
}
