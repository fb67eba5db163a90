package io.inferspan.kvcache.redis.link;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The address of a server, and the login in it, parsed from a URL.
 *
 * @param scheme {@code redis}, {@code rediss} or {@code unix}
 * @param place host and port, or the path of a socket
 * @param database null if the URL has none
 */
public record RedisAddress(
    String scheme,
    String place,
    @Nullable Integer database,
    @Nullable String user,
    @Nullable String password) {

  private static final String ALLOWED =
      "allowed are redis://, rediss:// and unix:// with [user:password@], a host with [:port] and"
          + " [/database], or a path with [?db=database]";
  private static final String DEFAULT_PLACE = "localhost:6379";

  /** Parses a URL; one without a scheme is read as {@code redis://}, as llm-d does. */
  public static RedisAddress parse(String url) {
    int colon = url.indexOf("://");
    String scheme = colon < 0 ? "redis" : url.substring(0, colon).toLowerCase(Locale.ROOT);
    String rest = colon < 0 ? url : url.substring(colon + 3);
    return switch (scheme) {
      case "redis", "valkey" -> tcp("redis", rest);
      case "rediss", "valkeys" -> tcp("rediss", rest);
      case "unix" -> unix(rest);
      default -> throw refused("it has the scheme '" + scheme + "'");
    };
  }

  private static RedisAddress tcp(String scheme, String rest) {
    Login login = Login.of(rest);
    String[] parts = databaseOf(login.rest()).split("/", 2);
    String place = parts[0].isEmpty() ? DEFAULT_PLACE : parts[0];
    RedisAddress address =
        new RedisAddress(
            scheme,
            place,
            parts.length < 2 || parts[1].isEmpty() ? null : number(parts[1]),
            login.user(),
            login.password());
    address.requireHost();
    return address;
  }

  private static RedisAddress unix(String rest) {
    Login login = Login.of(rest);
    int question = login.rest().indexOf('?');
    String path = question < 0 ? login.rest() : login.rest().substring(0, question);
    if (!path.startsWith("/") || path.length() == 1) {
      throw refused("it has no absolute socket path");
    }
    Integer database = question < 0 ? null : query(login.rest().substring(question + 1));
    return new RedisAddress("unix", path, database, login.user(), login.password());
  }

  /** Moves a database that the query names into the path. */
  private static String databaseOf(String rest) {
    int question = rest.indexOf('?');
    if (question < 0) {
      return rest;
    }
    String path = rest.substring(0, question);
    return path.contains("/") && !path.endsWith("/")
        ? fail("it has both a database in the path and a query")
        : path.replace("/", "") + "/" + query(rest.substring(question + 1));
  }

  private static int query(String query) {
    return query.startsWith("db=")
        ? number(query.substring(3))
        : number(fail("its query is not db=…"));
  }

  private static int number(String text) {
    try {
      int number = Integer.parseInt(text);
      if (number >= 0) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Reported below.
    }
    throw refused("its database is not a number, 0 or more");
  }

  private static String fail(String what) {
    throw refused(what);
  }

  /** Does not include the URL, which may contain a password. */
  private static IllegalArgumentException refused(String what) {
    return new IllegalArgumentException(
        "The address of Redis is invalid: " + what + "; " + ALLOWED);
  }

  private void requireHost() {
    try {
      URI uri = new URI(scheme + "://" + place);
      if (uri.getHost() == null || uri.getPort() == 0 || uri.getPort() > 65_535) {
        throw refused("its host or port is invalid");
      }
    } catch (URISyntaxException e) {
      throw refused("its host or port is invalid");
    }
  }

  /** Returns whether the connection is encrypted. */
  public boolean encrypted() {
    return scheme.equals("rediss");
  }

  /** Returns whether the address is a Unix domain socket. */
  public boolean local() {
    return scheme.equals("unix");
  }

  /** Returns the address in the client's format, without the login. */
  public String connectionString() {
    if (!local()) {
      return scheme + "://" + place + (database == null ? "" : "/" + database);
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

  private record Login(@Nullable String user, @Nullable String password, String rest) {

    static Login of(String rest) {
      int end = rest.indexOf('/');
      int at = rest.substring(0, end < 0 ? rest.length() : end).lastIndexOf('@');
      if (at < 0) {
        return new Login(null, null, rest);
      }
      String[] parts = rest.substring(0, at).split(":", 2);
      String user = parts[0].isEmpty() ? null : decoded(parts[0]);
      String password = parts.length < 2 || parts[1].isEmpty() ? null : decoded(parts[1]);
      return new Login(user, password, rest.substring(at + 1));
    }

    private static String decoded(String text) {
      try {
        // Before a host only %20 is an encoded space; a plus sign is literal.
        return URLDecoder.decode(text.replace("+", "%2B"), UTF_8);
      } catch (IllegalArgumentException e) {
        throw refused("its user or password is not percent-encoded");
      }
    }
  }
}
