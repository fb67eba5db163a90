package io.inferspan.samples.desk.receiver;

/**
 * Why a call is refused: the gRPC status, the HTTP status and a sentence.
 *
 * @param grpcStatus the gRPC status code
 * @param httpStatus the HTTP status code
 * @param sentence the reason, for the exporter's log
 */
record Refusal(int grpcStatus, int httpStatus, String sentence) {

  private static final int INVALID_ARGUMENT = 3;
  private static final int RESOURCE_EXHAUSTED = 8;
  private static final int UNIMPLEMENTED = 12;
  private static final int INTERNAL = 13;
  private static final int UNAVAILABLE = 14;

  /** A status that exporters retry, in both protocols. */
  static final Refusal BUSY =
      new Refusal(UNAVAILABLE, 503, "too many export calls are in progress; try again");

  static final Refusal WRONG_METHOD = new Refusal(UNIMPLEMENTED, 405, "the method must be POST");

  static Refusal malformed(String why) {
    return new Refusal(INVALID_ARGUMENT, 400, why);
  }

  static Refusal tooLarge(int maxBytes) {
    return new Refusal(RESOURCE_EXHAUSTED, 413, "the message exceeds " + maxBytes + " bytes");
  }

  static Refusal noSuchPath(String expected) {
    return new Refusal(UNIMPLEMENTED, 404, "unknown path; send traces to " + expected);
  }

  static Refusal unsupportedType() {
    return new Refusal(
        UNIMPLEMENTED,
        415,
        "the content type must be application/x-protobuf, application/json or application/grpc");
  }

  static Refusal broken(RuntimeException cause) {
    return new Refusal(INTERNAL, 500, "the receiver failed: " + cause.getClass().getSimpleName());
  }
}
