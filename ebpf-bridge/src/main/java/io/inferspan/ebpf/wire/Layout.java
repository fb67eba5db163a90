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

  /** The maximum length of the text, with its NUL. */
  public static final int MAX_TEXT_BYTES = 128;

  /** The maximum length of an event. */
  public static final int MAX_BYTES = FIXED_BYTES + MAX_TEXT_BYTES;

  // Fields of events that begin or end an owner, or bind a slot of an engine to a request.
  public static final int TRACE_ID = FIXED_BYTES;
  public static final int SPAN_ID = TRACE_ID + 16;

  /** The policy generation, in an event of {@link #JUDGED_BYTES}; zero without a policy. */
  public static final int GENERATION = FIXED_BYTES;

  /**
   * The length of a call while a policy is loaded, or while its class has less than full detail.
   */
  public static final int JUDGED_BYTES = FIXED_BYTES + 8;

  /**
   * The request id, as text, in events that begin or end a request, or bind a slot of an engine to
   * one.
   */
  public static final int REQUEST_ID = SPAN_ID + 8;

  /** The text is truncated. */
  public static final int FLAG_TEXT_CUT = 2;

  private Layout() {}
}
