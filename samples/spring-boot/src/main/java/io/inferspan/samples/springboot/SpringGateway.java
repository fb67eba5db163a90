package io.inferspan.samples.springboot;

import io.inferspan.OperationSpan;
import io.inferspan.Telemetry;
import io.inferspan.catalog.GatewaySpans;
import io.inferspan.response.ResponseTap;
import io.inferspan.semconv.CommonAttributes;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapSetter;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.http.client.ClientHttpResponse;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.RestClient;

/**
 * A gateway in Spring Boot: {@code SpringGateway --engine=http://engine:8000}.
 *
 * <p>Spring's OpenTelemetry is the only one. Spring reads the headers of what arrives, and a span
 * of ours takes Spring's current one as its parent. We write the headers of what leaves: a client
 * that Spring observes would hang its span beside ours.
 */
@SpringBootApplication(proxyBeanMethods = false)
@RestController
public class SpringGateway {

  private static final String CHAT = "/v1/chat/completions";

  private static final TextMapSetter<HttpHeaders> LEAVING =
      (headers, name, value) -> {
        if (headers != null) {
          headers.set(name, value);
        }
      };

  private final Telemetry telemetry;
  private final RestClient engine;

  /** A gateway before one engine. */
  public SpringGateway(Telemetry telemetry, @Value("${engine}") String engine) {
    this.telemetry = telemetry;
    this.engine = RestClient.create(engine);
  }

  /** Serves until it is stopped. */
  public static void main(String[] arguments) {
    SpringApplication.run(SpringGateway.class, arguments);
  }

  @Bean
  static Telemetry telemetry(OpenTelemetry springs) {
    return Telemetry.using(springs);
  }

  @PostMapping(CHAT)
  void chat(@RequestBody byte[] body, HttpServletResponse response) {
    long arrivedNanos = System.nanoTime();
    try (OperationSpan span = telemetry.span(GatewaySpans.REQUEST, Context.current()).start()) {
      try {
        engine
            .post()
            .uri(CHAT)
            .contentType(MediaType.APPLICATION_JSON)
            .headers(leaving -> telemetry.inject(span, leaving, LEAVING))
            .body(body)
            .exchange((call, answer) -> relay(answer, response, span, arrivedNanos));
      } catch (RuntimeException e) {
        span.fail(e);
        if (response.isCommitted()) {
          // What has been sent cannot be taken back: a cut says that it is not whole.
          throw e;
        }
        response.reset();
        response.setStatus(HttpStatus.BAD_GATEWAY.value());
        span.set(CommonAttributes.HTTP_RESPONSE_STATUS_CODE, response.getStatus());
      }
    }
  }

  private static HttpStatusCode relay(
      ClientHttpResponse answer,
      HttpServletResponse response,
      OperationSpan span,
      long arrivedNanos)
      throws IOException {
    String type = answer.getHeaders().getFirst(HttpHeaders.CONTENT_TYPE);
    HttpStatusCode status = answer.getStatusCode();
    span.set(CommonAttributes.HTTP_RESPONSE_STATUS_CODE, status.value());
    response.setStatus(status.value());
    if (type != null) {
      response.setContentType(type);
    }
    ResponseTap tap = ResponseTap.forContentType(type);
    try {
      InputStream in = answer.getBody();
      OutputStream out = response.getOutputStream();
      byte[] piece = new byte[8192];
      for (int length = in.read(piece); length >= 0; length = in.read(piece)) {
        tap.see(ByteBuffer.wrap(piece, 0, length), System.nanoTime());
        out.write(piece, 0, length);
        out.flush();
      }
    } finally {
      tap.end(System.nanoTime());
      tap.describe(span, arrivedNanos);
    }
    return status;
  }
}
