package io.inferspan.ebpf.wire;

/** The offsets of an event's fields: {@code struct ispan_record} of {@code wire.h}. */
public final class Layout {

  public static final int START_NANOS = 0;
  public static final int END_NANOS = 8;
  public static final int OWNER = 16;
  public static final int TGID = 24;
  public static final int TID = 28;
  public static final int KIND = 32;
  public static final int SOURCE = 34;
  public static final int FLAGS = 35;
  public static final int RESULT = 36;
  public static final int AMOUNT = 40;
  public static final int DETAIL = 48;
  public static final int EXTRA = 56;

  /** The fixed part; text or an owner's ids follow. */
  public static final int FIXED_BYTES = 64;

  /** The longest text, its NUL included. */
  public static final int MAX_TEXT_BYTES = 128;

  /** The longest event. */
  public static final int MAX_BYTES = FIXED_BYTES + MAX_TEXT_BYTES;

  // In events that begin or end an owner.
  public static final int TRACE_ID = FIXED_BYTES;
  public static final int SPAN_ID = TRACE_ID + 16;

  /** In a call that a policy kept, which its length shows. */
  public static final int GENERATION = FIXED_BYTES;

  /** The length of such a call. */
  public static final int JUDGED_BYTES = FIXED_BYTES + 8;

  /** From here on the text is the request id in a request's head. */
  public static final int REQUEST_ID = SPAN_ID + 8;

  /** The text is truncated. */
  public static final int FLAG_TEXT_CUT = 2;

  private Layout() {}
}
