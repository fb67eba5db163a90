package io.inferspan.pd.otlp;

import io.opentelemetry.sdk.common.export.Compressor;
import io.opentelemetry.sdk.common.export.GrpcSenderConfig;
import io.opentelemetry.sdk.common.export.HttpSenderConfig;
import io.opentelemetry.sdk.common.export.ProxyOptions;
import io.opentelemetry.sdk.common.export.RetryPolicy;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

/** What an exporter would ask of a sender. */
record SenderSettings(
    String endpoint,
    @Nullable RetryPolicy retryPolicy,
    long timeoutMillis,
    long responseBytes,
    @Nullable Compressor compressor,
    Trust trust) {

  /** Whom to trust, and over which versions of TLS; null is the default of each. */
  record Trust(@Nullable SSLContext context, @Nullable List<String> protocols) {
    static final Trust DEFAULT = new Trust(null, null);
  }

  SenderSettings(
      String endpoint, @Nullable RetryPolicy retryPolicy, long timeoutMillis, long responseBytes) {
    this(endpoint, retryPolicy, timeoutMillis, responseBytes, null, Trust.DEFAULT);
  }

  static final String METHOD = "some.Service/Export";

  SenderSettings retrying(RetryPolicy policy) {
    return new SenderSettings(endpoint, policy, timeoutMillis, responseBytes, compressor, trust);
  }

  SenderSettings within(long millis) {
    return new SenderSettings(endpoint, retryPolicy, millis, responseBytes, compressor, trust);
  }

  SenderSettings compressing(Compressor by) {
    return new SenderSettings(endpoint, retryPolicy, timeoutMillis, responseBytes, by, trust);
  }

  SenderSettings trusting(SSLContext context, String... protocols) {
    Trust given = new Trust(context, protocols.length == 0 ? null : List.of(protocols));
    return new SenderSettings(
        endpoint, retryPolicy, timeoutMillis, responseBytes, compressor, given);
  }

  GrpcSenderConfig grpc() {
    return new Grpc() {};
  }

  private abstract class Grpc implements GrpcSenderConfig {
    @Override
    public URI getEndpoint() {
      return URI.create(endpoint);
    }

    @Override
    public String getFullMethodName() {
      return METHOD;
    }

    @Override
    public @Nullable Compressor getCompressor() {
      return compressor;
    }

    @Override
    public Duration getTimeout() {
      return Duration.ofMillis(timeoutMillis);
    }

    @Override
    public Duration getConnectTimeout() {
      return Duration.ofSeconds(10);
    }

    @Override
    public Supplier<Map<String, List<String>>> getHeadersSupplier() {
      return Map::of;
    }

    @Override
    public @Nullable RetryPolicy getRetryPolicy() {
      return retryPolicy;
    }

    @Override
    public @Nullable SSLContext getSslContext() {
      return trust.context();
    }

    @Override
    public @Nullable List<String> getEnabledProtocols() {
      return trust.protocols();
    }

    @Override
    public @Nullable X509TrustManager getTrustManager() {
      return null;
    }

    @Override
    public @Nullable ExecutorService getExecutorService() {
      return null;
    }

    @Override
    public long getMaxResponseBodySize() {
      return responseBytes;
    }
  }

  HttpSenderConfig http() {
    return new Http() {};
  }

  private abstract class Http implements HttpSenderConfig {
    @Override
    public URI getEndpoint() {
      return URI.create(endpoint);
    }

    @Override
    public String getContentType() {
      return "application/x-protobuf";
    }

    @Override
    public @Nullable ProxyOptions getProxyOptions() {
      return null;
    }

    @Override
    public @Nullable Compressor getCompressor() {
      return compressor;
    }

    @Override
    public Duration getTimeout() {
      return Duration.ofMillis(timeoutMillis);
    }

    @Override
    public Duration getConnectTimeout() {
      return Duration.ofSeconds(10);
    }

    @Override
    public Supplier<Map<String, List<String>>> getHeadersSupplier() {
      return Map::of;
    }

    @Override
    public @Nullable RetryPolicy getRetryPolicy() {
      return retryPolicy;
    }

    @Override
    public @Nullable SSLContext getSslContext() {
      return trust.context();
    }

    @Override
    public @Nullable List<String> getEnabledProtocols() {
      return trust.protocols();
    }

    @Override
    public @Nullable X509TrustManager getTrustManager() {
      return null;
    }

    @Override
    public @Nullable ExecutorService getExecutorService() {
      return null;
    }

    @Override
    public long getMaxResponseBodySize() {
      return responseBytes;
    }
  }
}
