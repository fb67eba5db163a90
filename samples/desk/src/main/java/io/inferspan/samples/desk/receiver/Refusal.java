package io.inferspan.samples.desk.receiver;

/**
 * The reason for rejecting a call, as gRPC and HTTP status.
 *
 * @param grpcStatus the gRPC status code
 * @param httpStatus the HTTP status code
 * @param sentence for the exporter's log
 */
record Refusal(int grpcStatus, int httpStatus, String sentence) {

  private static final int INVALID_ARGUMENT = 3;
  private static final int RESOURCE_EXHAUSTED = 8;
  private static final int UNIMPLEMENTED = 12;
  private static final int INTERNAL = 13;
  private static final int UNAVAILABLE = 14;

  /** A retryable status in both protocols. */
  static final Refusal BUSY =
      new Refusal(UNAVAILABLE, 503, "too many spans are coming in at once; try again");

  static final Refusal WRONG_METHOD = new Refusal(UNIMPLEMENTED, 405, "only POST is served");

  static Refusal malformed(String why) {
    return new Refusal(INVALID_ARGUMENT, 400, why);
  }

  static Refusal tooLarge(int maxBytes) {
    return new Refusal(
        RESOURCE_EXHAUSTED, 413, "the message is larger than " + maxBytes + " bytes");
  }

  static Refusal noSuchPath() {
    return new Refusal(UNIMPLEMENTED, 404, "only traces are taken here, at " + OtlpCall.HTTP_PATH);
  }

  static Refusal unsupportedType() {
    return new Refusal(
        UNIMPLEMENTED, 415, "only application/x-protobuf, application/json and gRPC are read");
  }

  static Refusal broken(RuntimeException cause) {
    return new Refusal(INTERNAL, 500, "the receiver failed: " + cause.getClass().getSimpleName());
  }
}
