package io.inferspan.pd.server;

import io.netty.channel.Channel;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Tracks the connections of a listener, closes idle ones, and drains all. */
final class OpenConnections {
  private static final long FIRST_REQUEST_NANOS = Duration.ofSeconds(30).toNanos();
  private static final long QUIET_NANOS = Duration.ofMinutes(5).toNanos();

  private final Set<Member> members = ConcurrentHashMap.newKeySet();
  private volatile boolean draining;
  private volatile boolean cut;

  /** One connection. */
  interface Member {
    Channel channel();

    /** Returns the time since which it is idle, or zero if it is serving; safe for any thread. */
    long quietSinceNanos();

    /** Returns whether a request was served; if not, a drain closes the connection at once. */
    boolean servedAny();

    /** Closes after the active requests have ended. */
    void drain();

    void close();

    /** Ends active requests at once. */
    void cut();
  }

  /** Tracks a connection until it closes. */
  void add(Member member) {
    members.add(member);
    member.channel().closeFuture().addListener(_ -> members.remove(member));
    if (cut) {
      cut(member);
    } else if (draining) {
      drain(member);
    }
  }

  int count() {
    return members.size();
  }

  /** Closes connections that have been idle for too long. */
  void sweep(long nowNanos) {
    for (Member member : members) {
      long quietSince = member.quietSinceNanos();
      long limit = member.servedAny() ? QUIET_NANOS : FIRST_REQUEST_NANOS;
      if (quietSince != 0 && nowNanos - quietSince > limit) {
        member.channel().eventLoop().execute(member::close);
      }
    }
  }

  void drain() {
    draining = true;
    members.forEach(OpenConnections::drain);
  }

  private static void drain(Member member) {
    member.channel().eventLoop().execute(member::drain);
  }

  /** Ends all connections, and future ones. */
  void cut() {
    cut = true;
    members.forEach(OpenConnections::cut);
  }

  private static void cut(Member member) {
    member.channel().eventLoop().execute(member::cut);
  }
}
