package io.inferspan.samples.desk.otlp;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads export requests; of one that is malformed, nothing is taken.
 *
 * <p>One thread uses it at a time.
 */
public final class ExportReader {

  private static final int MAX_ORIGIN_BYTES = 200;
  private static final String SERVICE = "service.name";

  /** What tells the processes of one service apart, the best first. */
  private static final List<String> INSTANCE =
      List.of("service.instance.id", "k8s.pod.name", "host.name");

  private final Drops drops;
  private final Texts texts = new Texts();
  private final SpanParser parser;

  /** Counts what it cannot take. */
  public ExportReader(Drops drops) {
    this.drops = drops;
    this.parser = new SpanParser(texts, drops);
  }

  /**
   * The spans of a request.
   *
   * @param spans in the order in which they came
   * @param rejected how many besides had no valid ids
   */
  public record Export(List<Received> spans, int rejected) {}

  /** Reads an {@code ExportTraceServiceRequest}. */
  public Export read(byte[] message) throws MalformedException {
    Batch batch = new Batch();
    ProtoReader in = new ProtoReader(message);
    while (in.next()) {
      if (in.field() == Field.EXPORT_RESOURCE_SPANS) {
        batch.resource(in.message());
      } else {
        in.skip();
      }
    }
    drops.count(Drop.NO_ID, batch.rejected);
    return new Export(batch.spans, batch.rejected);
  }

  /** What of one request is read by now. */
  private final class Batch {
    private final List<Received> spans = new ArrayList<>();
    private int rejected;

    void resource(ProtoReader in) throws MalformedException {
      // The resource may stand behind its spans.
      ProtoReader ahead = new ProtoReader(in.bytes(), in.position(), in.end());
      Origin origin = Origin.UNKNOWN;
      while (ahead.next()) {
        if (ahead.field() == Field.RESOURCE) {
          origin = origin(ahead.message());
        } else {
          ahead.skip();
        }
      }
      while (in.next()) {
        if (in.field() == Field.SCOPE_SPANS) {
          scope(in.message(), origin);
        } else {
          in.skip();
        }
      }
    }

    private void scope(ProtoReader in, Origin resource) throws MalformedException {
      Origin origin = withScope(in, resource);
      while (in.next()) {
        if (in.field() == Field.SPANS) {
          span(parser.parse(in.message(), origin));
        } else {
          in.skip();
        }
      }
    }

    private void span(@Nullable Received received) {
      if (received == null) {
        rejected++;
      } else {
        spans.add(received);
      }
    }
  }

  private Origin withScope(ProtoReader scopeSpans, Origin resource) throws MalformedException {
    ProtoReader ahead =
        new ProtoReader(scopeSpans.bytes(), scopeSpans.position(), scopeSpans.end());
    String scope = "";
    while (ahead.next()) {
      if (ahead.field() == Field.SCOPE) {
        scope = scopeName(ahead.message());
      } else {
        ahead.skip();
      }
    }
    return new Origin(resource.service(), resource.instance(), scope);
  }

  private String scopeName(ProtoReader in) throws MalformedException {
    String name = "";
    while (in.next()) {
      if (in.field() == Field.SCOPE_NAME) {
        name = texts.of(in.message(), MAX_ORIGIN_BYTES);
      } else {
        in.skip();
      }
    }
    return name;
  }

  private static Origin origin(ProtoReader in) throws MalformedException {
    Map<String, Object> attributes = new LinkedHashMap<>();
    while (in.next()) {
      if (in.field() == Field.RESOURCE_ATTRIBUTES) {
        Values.pair(in.message(), attributes, 0);
      } else {
        in.skip();
      }
    }
    String instance =
        INSTANCE.stream()
            .map(key -> shortText(attributes.get(key)))
            .filter(text -> !text.isEmpty())
            .findFirst()
            .orElse("");
    String service = shortText(attributes.get(SERVICE));
    return new Origin(service.isEmpty() ? Origin.UNKNOWN.service() : service, instance, "");
  }

  private static String shortText(@Nullable Object value) {
    if (value == null) {
      return "";
    }
    String text = value.toString();
    if (text.length() <= MAX_ORIGIN_BYTES) {
      return text;
    }
    boolean split = Character.isHighSurrogate(text.charAt(MAX_ORIGIN_BYTES - 1));
    return text.substring(0, split ? MAX_ORIGIN_BYTES - 1 : MAX_ORIGIN_BYTES);
  }
}
