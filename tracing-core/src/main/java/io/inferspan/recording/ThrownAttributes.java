package io.inferspan.recording;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import java.io.PrintWriter;
import java.io.StringWriter;

/** What the semantic conventions say of an exception: type, message, stack trace. */
final class ThrownAttributes {

  private static final AttributeKey<String> TYPE = AttributeKey.stringKey("exception.type");
  private static final AttributeKey<String> MESSAGE = AttributeKey.stringKey("exception.message");
  private static final AttributeKey<String> STACK_TRACE =
      AttributeKey.stringKey("exception.stacktrace");

  private ThrownAttributes() {}

  static Attributes of(Throwable thrown, Attributes additional) {
    AttributesBuilder builder = Attributes.builder().put(TYPE, thrown.getClass().getName());
    try {
      describe(thrown, builder);
    } catch (RuntimeException e) {
      // An exception that cannot even say what it is has told its type.
    }
    return builder.putAll(additional).build();
  }

  private static void describe(Throwable thrown, AttributesBuilder builder) {
    String message = thrown.getMessage();
    if (message != null) {
      builder.put(MESSAGE, message);
    }
    StringWriter stackTrace = new StringWriter();
    thrown.printStackTrace(new PrintWriter(stackTrace));
    builder.put(STACK_TRACE, stackTrace.toString());
  }
}
