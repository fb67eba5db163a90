package io.inferspan.pd.otlp;

import io.opentelemetry.sdk.common.export.RetryPolicy;
import io.vertx.core.http.HttpClosedException;
import io.vertx.core.http.StreamResetException;
import java.io.IOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** When a call is made again, as a retry policy has it; without a policy, never. */
final class Retries {

  /** Answer of {@link #delayNanos} where no further call may be made. */
  static final long NEVER = -1;

  private static final double LEAST_JITTER = 0.8;
  private static final double MOST_JITTER = 1.2;

  private final @Nullable RetryPolicy policy;
  private final Predicate<CollectorReply> passing;

  /**
   * Retries.
   *
   * @param policy how often and how fast, or null for never
   * @param passing whether an answer may be another one a little later
   */
  Retries(@Nullable RetryPolicy policy, Predicate<CollectorReply> passing) {
    this.policy = policy;
    this.passing = passing;
  }

  /** How long to wait before the next call after {@code calls} of them and this answer. */
  long delayNanos(int calls, CollectorReply reply) {
    if (policy == null || !passing.test(reply)) {
      return NEVER;
    }
    long asked = retryAfterNanos(reply.headers().get("retry-after"), Instant.now());
    long delay = delayNanos(policy, calls);
    return delay == NEVER || asked == NEVER ? delay : asked;
  }

  /** How long to wait before the next call after {@code calls} of them and this failure. */
  long delayNanos(int calls, IOException failure) {
    if (policy == null) {
      return NEVER;
    }
    Predicate<IOException> chosen = policy.getRetryExceptionPredicate();
    boolean again = chosen == null ? isPassing(failure) : chosen.test(failure);
    return again ? delayNanos(policy, calls) : NEVER;
  }

  private static long delayNanos(RetryPolicy policy, int calls) {
    if (calls >= policy.getMaxAttempts()) {
      return NEVER;
    }
    double backoff =
        (double) policy.getInitialBackoff().toNanos()
            * Math.pow(policy.getBackoffMultiplier(), calls - 1);
    double jitter = ThreadLocalRandom.current().nextDouble(LEAST_JITTER, MOST_JITTER);
    return (long) (jitter * Math.min(backoff, (double) policy.getMaxBackoff().toNanos()));
  }

  private static boolean isPassing(IOException failure) {
    return failure instanceof SocketException
        || failure instanceof SocketTimeoutException
        || failure instanceof UnknownHostException;
  }

  /** The failure in the terms of {@code java.net}, in which retry policies speak. */
  static IOException inJavaTerms(Throwable failure) {
    return switch (failure) {
      case IOException known -> known;
      case TimeoutException _ -> withCause(new SocketTimeoutException(words(failure)), failure);
      case HttpClosedException _ -> withCause(new SocketException(words(failure)), failure);
      case StreamResetException _ -> withCause(new SocketException(words(failure)), failure);
      default -> new IOException(words(failure), failure);
    };
  }

  private static IOException withCause(IOException failure, Throwable cause) {
    failure.initCause(cause);
    return failure;
  }

  private static String words(Throwable failure) {
    String message = failure.getMessage();
    return message == null ? failure.getClass().getSimpleName() : message;
  }

  /**
   * The delay of a {@code Retry-After}, in seconds or as a date; {@link #NEVER} if it says none.
   */
  static long retryAfterNanos(@Nullable String value, Instant now) {
    if (value == null || value.isBlank()) {
      return NEVER;
    }
    try {
      return Character.isDigit(value.charAt(0))
          ? TimeUnit.SECONDS.toNanos(Long.parseLong(value))
          : untilDateNanos(value, now);
    } catch (NumberFormatException | DateTimeException | ArithmeticException e) {
      return NEVER;
    }
  }

  private static long untilDateNanos(String date, Instant now) {
    Instant then = ZonedDateTime.parse(date, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant();
    return Math.max(0, Duration.between(now, then).toNanos());
  }
}
