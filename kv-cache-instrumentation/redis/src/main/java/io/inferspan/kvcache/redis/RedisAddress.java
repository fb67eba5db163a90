package io.inferspan.kvcache.redis;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The address of a server, and the login in it, parsed from a URL.
 *
 * @param scheme {@code redis}, {@code rediss} or {@code unix}
 * @param place host and port, or the path of a socket
 * @param database null if the URL has none
 */
record RedisAddress(
    String scheme,
    String place,
    @Nullable Integer database,
    @Nullable String user,
    @Nullable String password) {

  private static final String ALLOWED =
      "it must be redis://[user:password@]host[:port][/database] (with TLS: rediss://) or"
          + " unix://[user:password@]/path[?db=database]; valkey:// or no scheme means redis://,"
          + " and valkeys:// means rediss://";
  private static final String LOGIN = "(?:(?<user>[^:/]*)(?::(?<password>[^/]*))?@)?";
  private static final Pattern TCP =
      Pattern.compile(
          LOGIN + "(?<place>[^/?@]*)(?:/|/?\\?db=(?<query>\\d{1,9})|/(?<db>\\d{1,9}))?");
  private static final Pattern UNIX =
      Pattern.compile(LOGIN + "(?<place>/[^?]+)(?<db>)(?:\\?db=(?<query>\\d{1,9}))?");

  /** Parses a URL; one without a scheme is read as {@code redis://}, as llm-d does. */
  static RedisAddress parse(String url) {
    int colon = url.indexOf("://");
    String scheme = colon < 0 ? "redis" : url.substring(0, colon).toLowerCase(Locale.ROOT);
    String rest = colon < 0 ? url : url.substring(colon + 3);
    return switch (scheme) {
      case "redis", "valkey" -> tcp("redis", TCP.matcher(rest));
      case "rediss", "valkeys" -> tcp("rediss", TCP.matcher(rest));
      case "unix" -> parsed("unix", UNIX.matcher(rest));
      default -> throw refused("it has the scheme '" + scheme + "'");
    };
  }

  private static RedisAddress tcp(String scheme, Matcher parts) {
    RedisAddress address = parsed(scheme, parts);
    try {
      URI uri = new URI(address.toString());
      if (uri.getHost() != null && uri.getPort() != 0 && uri.getPort() <= 65_535) {
        return address;
      }
    } catch (URISyntaxException e) {
      // Refused below.
    }
    throw refused("its host or port is invalid");
  }

  private static RedisAddress parsed(String scheme, Matcher parts) {
    if (!parts.matches()) {
      throw refused("its path or database is invalid");
    }
    String place = parts.group("place");
    String database = decoded(parts.group("query"));
    database = database == null ? decoded(parts.group("db")) : database;
    return new RedisAddress(
        scheme,
        place.isEmpty() ? "localhost:6379" : place,
        database == null ? null : Integer.valueOf(database),
        decoded(parts.group("user")),
        decoded(parts.group("password")));
  }

  /** Returns a part of the URL, or null if it is missing or empty. */
  private static @Nullable String decoded(@Nullable String part) {
    if (part == null || part.isEmpty()) {
      return null;
    }
    try {
      // In the part of a URL before the host, %20 encodes a space; a plus sign is literal.
      return URLDecoder.decode(part.replace("+", "%2B"), UTF_8);
    } catch (IllegalArgumentException e) {
      throw refused("its user or password is not percent-encoded");
    }
  }

  /** Does not include the URL, which may contain a password. */
  private static IllegalArgumentException refused(String what) {
    return new IllegalArgumentException(
        "The address of Redis is invalid: " + what + "; " + ALLOWED);
  }

  boolean encrypted() {
    return scheme.equals("rediss");
  }

  /** Returns whether the address is a Unix domain socket. */
  boolean local() {
    return scheme.equals("unix");
  }

  /** Returns the address in the client's format, without the login. */
  String connectionString() {
    if (!local()) {
      return this + (database == null ? "" : "/" + database);
    }
    try {
      String query = database == null ? null : "db=" + database;
      return new URI("unix", null, place, query, null).toString();
    } catch (URISyntaxException e) {
      throw refused("its path is invalid");
    }
  }

  /** Returns the address without the login. */
  @Override
  public String toString() {
    return scheme + "://" + place;
  }
}
