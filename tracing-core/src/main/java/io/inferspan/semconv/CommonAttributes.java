package io.inferspan.semconv;

import static io.inferspan.semconv.Attribute.count;
import static io.inferspan.semconv.Attribute.text;

/** General attributes of the stable semantic conventions that our spans carry. */
public final class CommonAttributes {

  /** The type of the error that ended the operation: a class name or a status code. */
  public static final Attribute<String> ERROR_TYPE = text("error.type");

  /** The HTTP method. */
  public static final Attribute<String> HTTP_REQUEST_METHOD = text("http.request.method");

  /** The number of earlier attempts of the request. */
  public static final Attribute<Long> HTTP_RESEND_COUNT = count("http.request.resend_count");

  /** The HTTP status that was answered. */
  public static final Attribute<Long> HTTP_RESPONSE_STATUS_CODE =
      count("http.response.status_code");

  /** The route that matched, never the raw path. */
  public static final Attribute<String> HTTP_ROUTE = text("http.route");

  /** The host that was called. */
  public static final Attribute<String> SERVER_ADDRESS = text("server.address");

  /** The port that was called. */
  public static final Attribute<Long> SERVER_PORT = count("server.port");

  private CommonAttributes() {}
}
