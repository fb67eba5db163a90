package io.inferspan.semconv;

import static io.inferspan.semconv.Attribute.count;
import static io.inferspan.semconv.Attribute.text;

/** Attributes of OpenTelemetry's stable semantic conventions. */
public final class CommonAttributes {

  /** The type of the error that ended the operation: a class name or a status code. */
  public static final Attribute<String> ERROR_TYPE = text("error.type");

  /** The HTTP method. */
  public static final Attribute<String> HTTP_REQUEST_METHOD = text("http.request.method");

  /** The number of earlier attempts of the request. */
  public static final Attribute<Long> HTTP_RESEND_COUNT = count("http.request.resend_count");

  /** The HTTP status code of the response. */
  public static final Attribute<Long> HTTP_RESPONSE_STATUS_CODE =
      count("http.response.status_code");

  /** The matched route; never the raw path. */
  public static final Attribute<String> HTTP_ROUTE = text("http.route");

  /** The host name or address of the called server. */
  public static final Attribute<String> SERVER_ADDRESS = text("server.address");

  /** The port of the called server. */
  public static final Attribute<Long> SERVER_PORT = count("server.port");

  private CommonAttributes() {}
}
