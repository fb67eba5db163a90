package io.inferspan.ebpf.wire;

/** Where the fields of an event are: {@code struct ispan_event} of {@code wire.h}. */
public final class Layout {

  public static final int START_NANOS = 0;
  public static final int END_NANOS = 8;
  public static final int TRACE_ID = 16;
  public static final int SPAN_ID = 32;
  public static final int TGID = 40;
  public static final int TID = 44;
  public static final int KIND = 48;
  public static final int SOURCE = 50;
  public static final int FLAGS = 51;
  public static final int RESULT = 52;
  public static final int AMOUNT = 56;
  public static final int DETAIL = 64;
  public static final int EXTRA = 72;

  /** The fixed part; what follows is text. */
  public static final int FIXED_BYTES = 80;

  /** The longest text, its NUL included. */
  public static final int MAX_TEXT_BYTES = 128;

  /** The longest event. */
  public static final int MAX_BYTES = FIXED_BYTES + MAX_TEXT_BYTES;

  /** The text was longer than there is room for. */
  public static final int FLAG_TEXT_CUT = 2;

  private Layout() {}
}
