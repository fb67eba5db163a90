package io.inferspan.pd.net;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A body of a request or an answer in memory. Its bytes count towards the budget of {@link
 * HeldBodies} until the last reference is released.
 *
 * <p>It grows by segments without copying, and is joined to an array on the heap for reading. It is
 * used by one thread at a time.
 */
public final class HeldBody {
  private static final int SMALLEST_SEGMENT = 4 * 1024;
  private static final int LARGEST_SEGMENT = 256 * 1024;
  private static final int COMPONENTS = Integer.MAX_VALUE;

  private final HeldBodies budget;
  private final @Nullable String pod;
  private final Deque<ByteBuf> segments = new ArrayDeque<>(1);
  private final List<HeldBody> adopted = new ArrayList<>(0);
  private byte @Nullable [] joined;
  private @Nullable Runnable whenFree;
  private long taken;
  private int length;
  private int users = 1;

  HeldBody(HeldBodies budget, @Nullable String pod) {
    this.budget = budget;
    this.pod = pod;
  }

  /**
   * Allocates an array for a body of {@code expected} bytes; returns false if there is no room.
   * Does nothing for a body of more than 256 KiB, which grows as it arrives.
   */
  public boolean expect(long expected) {
    if (expected == 0 || expected > LARGEST_SEGMENT) {
      return true;
    }
    int size = (int) expected;
    boolean fits = take(size);
    if (fits) {
      segments.add(Unpooled.wrappedBuffer(new byte[size]).clear());
    }
    return fits;
  }

  /** Copies {@code content}, which the caller keeps; returns false if there is no room. */
  public boolean append(ByteBuf content) {
    int more = content.readableBytes();
    while (content.isReadable()) {
      ByteBuf last = segments.peekLast();
      if (last == null || !last.isWritable()) {
        last = grow(content.readableBytes());
      }
      if (last == null) {
        return false;
      }
      last.writeBytes(content, Math.min(content.readableBytes(), last.writableBytes()));
    }
    length += more;
    return true;
  }

  private @Nullable ByteBuf grow(int wanted) {
    int size = Math.clamp(Math.max(wanted, length), SMALLEST_SEGMENT, LARGEST_SEGMENT);
    if (!take(size)) {
      // A smaller segment, so that a body that fits exactly is accepted.
      size = Math.min(size, wanted);
      if (!take(size)) {
        return null;
      }
    }
    ByteBuf segment = PooledByteBufAllocator.DEFAULT.directBuffer(size, size);
    segments.add(segment);
    return segment;
  }

  /** Counts {@code more} bytes for this body; returns false if there is no room. */
  public boolean take(long more) {
    if (users == 0 || !budget.take(more)) {
      return false;
    }
    if (pod != null && !budget.takeForPod(pod, taken, more)) {
      budget.give(more);
      return false;
    }
    taken += more;
    return true;
  }

  public void giveBack(long less) {
    budget.give(less);
    if (pod != null) {
      budget.giveForPod(pod, less);
    }
    taken -= less;
  }

  public HeldBodies bodies() {
    return budget;
  }

  public int length() {
    return length;
  }

  /**
   * Returns the bytes in one array.
   *
   * <p>A body in direct memory is copied to the heap. During the copy, up to the whole body is in
   * memory twice.
   */
  public byte[] join() {
    if (users == 0) {
      throw released();
    }
    byte[] whole = joined;
    if (whole == null) {
      ByteBuf first = segments.peekFirst();
      boolean exact = first != null && first.hasArray() && first.capacity() == length;
      whole = exact ? first.array() : copied();
      joined = whole;
      releaseSegments();
      giveBack(taken - whole.length);
    }
    return whole;
  }

  private byte[] copied() {
    byte[] whole = new byte[length];
    int at = 0;
    for (ByteBuf segment = segments.poll(); segment != null; segment = segments.poll()) {
      int count = segment.readableBytes();
      segment.readBytes(whole, at, count);
      segment.release();
      at += count;
    }
    return whole;
  }

  /** Replaces the bytes with others, which are counted instead. */
  public void replace(byte[] whole) {
    releaseSegments();
    joined = whole;
    length = whole.length;
    giveBack(taken - whole.length);
  }

  /** Returns the bytes so far as a buffer, which holds a reference until it is released. */
  public ByteBuf toBuffer() {
    CompositeByteBuf buffer = new Counted(retain());
    byte[] whole = joined;
    if (whole != null) {
      return buffer.addComponent(true, Unpooled.wrappedBuffer(whole));
    }
    segments.forEach(segment -> buffer.addComponent(true, segment.retainedDuplicate()));
    return buffer;
  }

  /**
   * Returns the promise for writing a buffer. It keeps the bytes of a body counted until they are
   * written, because TLS releases the plain text earlier.
   */
  public static ChannelPromise untilWritten(ByteBuf buffer, ChannelHandlerContext context) {
    if (buffer instanceof Counted counted) {
      HeldBody body = counted.body.retain();
      return context.newPromise().addListener(_ -> body.release());
    }
    return context.voidPromise();
  }

  /** Keeps another body until this one is released. */
  public void adopt(HeldBody other) {
    if (users == 0) {
      other.release();
    } else {
      adopted.add(other);
    }
  }

  /** Sets an action that runs when the last reference is released. */
  public void whenFree(Runnable action) {
    whenFree = action;
  }

  public HeldBody retain() {
    if (users == 0) {
      throw released();
    }
    users++;
    return this;
  }

  private static IllegalStateException released() {
    return new IllegalStateException("the body was released; retain it while it is in use");
  }

  public void release() {
    users--;
    if (users == 0) {
      free();
    }
  }

  private void free() {
    releaseSegments();
    joined = null;
    giveBack(taken);
    adopted.forEach(HeldBody::release);
    adopted.clear();
    if (whenFree != null) {
      whenFree.run();
    }
  }

  private void releaseSegments() {
    segments.forEach(ByteBuf::release);
    segments.clear();
  }

  /** A buffer with a reference to its body. */
  private static final class Counted extends CompositeByteBuf {
    private final HeldBody body;

    Counted(HeldBody body) {
      super(PooledByteBufAllocator.DEFAULT, true, COMPONENTS);
      this.body = body;
    }

    @Override
    protected void deallocate() {
      super.deallocate();
      body.release();
    }
  }
}
