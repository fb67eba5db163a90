package io.inferspan.pd.config;

import io.inferspan.pd.config.KvConnector.About;
import io.inferspan.pd.config.Setting.Group;
import java.util.ArrayList;
import java.util.List;

/** Writes what {@code --help} prints. */
final class HelpText {

  private static final int WIDTH = 100;
  private static final int COLUMN = 34;
  private static final String INDENT = " ".repeat(COLUMN);

  private final StringBuilder text = new StringBuilder();

  private HelpText() {}

  static String write() {
    HelpText help = new HelpText();
    help.line("Usage: pd-sidecar [--flag=value | --flag value]...");
    help.line("");
    help.line(
        "Runs prefill on another pod and decode on this one, for vLLM and SGLang. Flags override YAML,");
    help.line(
        "and YAML overrides environment variables. A list is comma-separated, or the flag repeated.");
    for (Group group : Group.values()) {
      if (group == Group.IGNORED) {
        help.ignored();
      } else {
        help.group(group);
      }
    }
    help.connectors();
    help.examples();
    return help.text.toString();
  }

  private void group(Group group) {
    title(group.title);
    for (Setting<?> setting : Settings.in(group)) {
      entry(flag(setting), meaning(setting));
    }
    if (group == Group.SOURCE) {
      entry("-h, --help", "Print this help.");
      entry("--version", "Print the version.");
    }
  }

  private void ignored() {
    title(Group.IGNORED.title);
    List<String> names = new ArrayList<>();
    Settings.in(Group.IGNORED).forEach(setting -> names.add("--" + setting.key));
    wrap("  ", String.join(", ", names), "  ");
  }

  private void connectors() {
    title("KV connectors");
    for (KvConnector connector : KvConnector.all()) {
      About about = connector.about();
      entry(about.name(), about.order() + "; transfers " + about.transfers());
    }
  }

  private void examples() {
    line("");
    line("Examples:");
    line("  pd-sidecar --port=8000 --model-server-port=8200 --secure-proxy=false --tracing");
    line(
        "  pd-sidecar --configuration='{port: 8000, kv-connector: sglang, enable-tls:"
            + " [prefiller]}'");
  }

  private void title(String title) {
    line("");
    line(title + ":");
  }

  private static String flag(Setting<?> setting) {
    StringBuilder flag = new StringBuilder();
    for (String name : setting.names()) {
      if (!name.equals(setting.formerly)) {
        flag.append(flag.isEmpty() ? "" : ", ").append(name.length() == 1 ? "-" : "--");
        flag.append(name);
      }
    }
    if (!setting.kind.isBoolean()) {
      flag.append(" <").append(setting.kind.placeholder()).append('>');
    }
    return flag.toString();
  }

  private static String meaning(Setting<?> setting) {
    List<String> facts = new ArrayList<>();
    if (!setting.byDefault.isEmpty()) {
      facts.add("default " + setting.byDefault);
    }
    if (setting.env != null) {
      facts.add("env " + setting.env);
    }
    if (setting.formerly != null) {
      facts.add("formerly --" + setting.formerly);
    }
    if (setting.instead != null) {
      facts.add("use --" + setting.instead);
    }
    String more = facts.isEmpty() ? "" : " (" + String.join("; ", facts) + ")";
    return setting.sentence + more;
  }

  private void entry(String flag, String meaning) {
    String head = "  " + flag;
    if (head.length() < COLUMN - 1) {
      wrap(head + " ".repeat(COLUMN - head.length()), meaning, INDENT);
    } else {
      line(head);
      wrap(INDENT, meaning, INDENT);
    }
  }

  /** Breaks a line at spaces; a line without spaces stays long. */
  private void wrap(String first, String words, String indent) {
    String start = first;
    String rest = words;
    while (start.length() + rest.length() > WIDTH) {
      int cut = rest.lastIndexOf(' ', WIDTH - start.length());
      if (cut <= 0) {
        break;
      }
      line(start + rest.substring(0, cut));
      rest = rest.substring(cut + 1);
      start = indent;
    }
    line(start + rest);
  }

  private void line(String line) {
    text.append(line).append('\n');
  }
}
