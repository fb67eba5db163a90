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
    line("Every setting of the sidecar. This page is generated from");
    line("`io.inferspan.pd.config.Settings`; to renew it, run");
    line(
        "`mvn -pl pd-sidecar -am test -Dtest=SettingsPageTest -Dsettings.write=true"
            + " -Dsurefire.failIfNoSpecifiedTests=false`.");
    line("");
    line(
        "A setting is a flag (`--port=8000`, `--port 8000`; a boolean alone is true) and a key of");
    line("the YAML in `--configuration` or `--configuration-file`. Flags win over YAML, YAML over");
    line("the environment. A list is separated by commas, or the flag is repeated. Durations are");
    line(
        "written as in Go (`200ms`, `1m30s`), sizes in bytes or with `KiB`, `MiB`, `GiB`. In YAML");
    line("an empty value means not set. A malformed variable is ignored with a note.");
  }

  private void group(Group group) {
    line("");
    line("## " + group.title());
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
    return setting.group == Group.SOURCE ? " Only a flag." : "";
  }

  private void ignored() {
    line("");
    line("## " + Group.IGNORED.title());
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
