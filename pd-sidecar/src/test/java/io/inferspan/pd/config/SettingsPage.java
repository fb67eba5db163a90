package io.inferspan.pd.config;

import io.inferspan.pd.config.Setting.Group;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Writes {@code SETTINGS.md} from the declarations. */
final class SettingsPage {

  private final StringBuilder page = new StringBuilder();

  private SettingsPage() {}

  static String write() {
    SettingsPage page = new SettingsPage();
    page.intro();
    for (Group group : Group.values()) {
      if (group != Group.IGNORED) {
        page.group(group);
      }
    }
    page.ignored();
    return page.page.toString();
  }

  private void intro() {
    line("# Settings");
    line("");
    line("Every setting of the sidecar.");
    line("");
    line("- Each setting is a flag (`--port=8000` or `--port 8000`; `--tracing` alone means true)");
    line("  and a key in YAML: in the text of `--configuration` or in the file that");
    line("  `--configuration-file` names.");
    line("- Some settings also have an environment variable.");
    line("- A flag overrides YAML, and YAML overrides the environment.");
    line("- A list is separated by commas, or the flag is repeated.");
    line("- Durations are written as in Go: `200ms`, `1m30s`.");
    line("- Sizes are in bytes, or have a unit: `KiB`, `MiB`, `GiB`.");
    line("- A key in YAML with an empty value counts as not set.");
    line("- If a variable is malformed, the sidecar ignores it and logs a warning.");
    line("");
    line("The *decoder* is the engine in the sidecar's pod. A *prefiller* is an engine that runs");
    line("prefill. A *rank* is one of an engine's data-parallel processes.");
    line("A [connector](docs/requests.md#connectors) is the method by which engines transfer KV");
    line("blocks.");
    line("");
    line("This page is generated from `io.inferspan.pd.config.Settings`. To update it, run");
    line(
        "`mvn -pl pd-sidecar -am test -Dtest=SettingsPageTest -Dsettings.write=true"
            + " -Dsurefire.failIfNoSpecifiedTests=false`.");
  }

  private void group(Group group) {
    line("");
    line("## " + group.title);
    line("");
    line("| setting | type | default | environment | meaning |");
    line("|---|---|---|---|---|");
    Settings.in(group).forEach(this::row);
  }

  private void row(Setting<?> setting) {
    line(
        "| %s | %s | %s | %s | %s |"
            .formatted(
                names(setting),
                setting.kind.placeholder(),
                code(setting.byDefault),
                code(setting.env),
                setting.sentence + remark(setting)));
  }

  private static String names(Setting<?> setting) {
    List<String> names = new ArrayList<>();
    setting.names().stream()
        .filter(name -> !name.equals(setting.formerly))
        .forEach(name -> names.add(code(name)));
    return String.join(", ", names);
  }

  private static String remark(Setting<?> setting) {
    if (setting.instead != null) {
      return " Use " + code(setting.instead) + ".";
    }
    if (setting.formerly != null) {
      return " Formerly " + code(setting.formerly) + ".";
    }
    return setting.group == Group.SOURCE ? " Only as a flag." : "";
  }

  private void ignored() {
    line("");
    line("## " + Group.IGNORED.title);
    line("");
    line("Flags of Go's loggers, so that a pod spec may keep them:");
    List<String> names = new ArrayList<>();
    Settings.in(Group.IGNORED).forEach(setting -> names.add(code(setting.key)));
    line(String.join(", ", names) + ".");
  }

  private static String code(@Nullable String text) {
    return text == null || text.isEmpty() ? "" : "`" + text + "`";
  }

  private void line(String text) {
    page.append(text).append('\n');
  }
}
