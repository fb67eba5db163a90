package io.inferspan.samples.springboot;

import io.inferspan.Telemetry;
import io.inferspan.gateway.GatewayExchange;
import io.inferspan.gateway.GatewayRequest;
import io.inferspan.gateway.GatewayTracing;
import io.inferspan.gateway.UpstreamAttempt;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapSetter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.Iterator;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.client.ClientHttpResponse;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.client.ResourceAccessException;
import org.springframework.web.client.RestClient;

/**
 * A gateway in Spring Boot: {@code SpringGateway --engine=http://engine:8000}.
 *
 * <p>It uses Spring's OpenTelemetry, and its span is a child of Spring's server span. Spring does
 * not observe the HTTP client, because the span of an observed client would be a sibling of the
 * gateway's span.
 */
@SpringBootApplication(proxyBeanMethods = false)
@RestController
public class SpringGateway {

  private static final String CHAT = "/v1/chat/completions";

  private static final TextMapSetter<HttpHeaders> TRACE_HEADERS =
      (headers, name, value) -> Objects.requireNonNull(headers).set(name, value);

  private final GatewayTracing tracing;
  private final RestClient client;
  private final URI engine;

  /** Creates a gateway in front of one engine. */
  public SpringGateway(Telemetry telemetry, @Value("${engine}") URI engine) {
    this.tracing = GatewayTracing.create(telemetry);
    this.client =
        RestClient.builder()
            .requestFactory(new JdkClientHttpRequestFactory())
            .baseUrl(engine.toString())
            .build();
    this.engine = engine;
  }

  /** Serves until it is stopped. */
  public static void main(String[] arguments) {
    SpringApplication.run(SpringGateway.class, arguments);
  }

  @Bean
  static Telemetry telemetry(OpenTelemetry ofSpring) {
    return Telemetry.using(ofSpring);
  }

  @PostMapping(CHAT)
  void chat(@RequestBody byte[] body, HttpServletRequest asked, HttpServletResponse response) {
    GatewayRequest request = tracing.begin(new Arrived(asked), Context.current());
    try {
      request.requestBody(ByteBuffer.wrap(body));
      relay(asked, body, request, response);
      request.end();
    } catch (RuntimeException e) {
      // Has no effect if the request has already ended because of the engine or the client.
      request.fail(e);
      throw e;
    }
  }

  private void relay(
      HttpServletRequest asked, byte[] body, GatewayRequest request, HttpServletResponse response) {
    UpstreamAttempt attempt = request.attempt(engine.getHost(), engine.getPort());
    try {
      client
          .post()
          .uri(CHAT)
          .headers(
              leaving -> {
                copy(asked, leaving, HttpHeaders.CONTENT_TYPE);
                copy(asked, leaving, HttpHeaders.ACCEPT);
                copy(asked, leaving, HttpHeaders.AUTHORIZATION);
                attempt.inject(leaving, TRACE_HEADERS);
              })
          .body(body)
          .exchange(
              (call, answer) -> {
                pass(answer, request, attempt, response);
                return answer.getStatusCode();
              });
    } catch (ResourceAccessException e) {
      attempt.fail(e);
      if (response.isCommitted()) {
        throw e;
      }
      response.reset();
      response.setStatus(HttpStatus.BAD_GATEWAY.value());
      request.status(response.getStatus());
    }
  }

  private static void copy(HttpServletRequest asked, HttpHeaders leaving, String name) {
    String value = asked.getHeader(name);
    if (value != null) {
      leaving.set(name, value);
    }
  }

  private static void pass(
      ClientHttpResponse answer,
      GatewayRequest request,
      UpstreamAttempt attempt,
      HttpServletResponse response)
      throws IOException {
    String type = answer.getHeaders().getFirst(HttpHeaders.CONTENT_TYPE);
    int status = answer.getStatusCode().value();
    attempt.responseHead(status, type, answer.getHeaders().getFirst(HttpHeaders.CONTENT_ENCODING));
    request.status(status);
    response.setStatus(status);
    if (type != null) {
      response.setContentType(type);
    }
    // Close the body before Spring does: Spring would first read the rest, for which the engine
    // would generate all remaining tokens.
    try (InputStream in = answer.getBody()) {
      byte[] piece = new byte[8192];
      for (int length = in.read(piece); length >= 0; length = in.read(piece)) {
        attempt.see(ByteBuffer.wrap(piece, 0, length));
        write(response, piece, length, request);
      }
      attempt.end();
    }
  }

  private static void write(
      HttpServletResponse response, byte[] piece, int length, GatewayRequest request) {
    try {
      OutputStream out = response.getOutputStream();
      out.write(piece, 0, length);
      out.flush();
    } catch (IOException e) {
      request.clientGone();
      throw new UncheckedIOException(e);
    }
  }

  /** The properties of a request that the tracing library reads. */
  private record Arrived(HttpServletRequest request) implements GatewayExchange {

    @Override
    public String method() {
      return request.getMethod();
    }

    @Override
    public String path() {
      return request.getRequestURI();
    }

    @Override
    public @Nullable String header(String name) {
      return request.getHeader(name);
    }

    @Override
    public Iterator<String> headers(String name) {
      return Collections.list(request.getHeaders(name)).iterator();
    }
  }
}
