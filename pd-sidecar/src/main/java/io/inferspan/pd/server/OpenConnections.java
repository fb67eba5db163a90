package io.inferspan.pd.server;

import io.netty.channel.Channel;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The connections of a listener: closes those that are quiet for too long, and drains all. */
final class OpenConnections {
  private static final long FIRST_REQUEST_NANOS = Duration.ofSeconds(30).toNanos();
  private static final long QUIET_NANOS = Duration.ofMinutes(5).toNanos();

  private final Set<Member> members = ConcurrentHashMap.newKeySet();
  private volatile boolean draining;
  private volatile boolean cut;

  /** One connection. */
  interface Member {
    Channel channel();

    /** Since when nothing is being served, or zero while something is; from any thread. */
    long quietSinceNanos();

    /** Returns whether a request was served; if not, a drain closes the connection at once. */
    boolean servedAny();

    /** Lets the requests under way end, then closes. */
    void drain();

    void close();

    /** Ends at once what has not ended. */
    void cut();
  }

  /** Keeps an eye on a connection until it closes. */
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

  /** Closes what has been quiet for too long. */
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

  /** Ends all of them, and what comes from now on. */
  void cut() {
    cut = true;
    members.forEach(OpenConnections::cut);
  }

  private static void cut(Member member) {
    member.channel().eventLoop().execute(member::cut);
  }
}
