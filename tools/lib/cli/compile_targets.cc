#include "tools/lib/cli/compile_targets.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/did_you_mean.h"
#include "base/file.h"
#include "tools/lib/cli/command_line_error.h"
#include "tools/lib/cli/paths.h"

namespace ember::tools {
namespace {

// Maps names that other tools give to targets to Ember's names.
struct Alias {
  std::string_view alias, name;
};
constexpr Alias kAliases[] = {
    {"arm64", "aarch64"},     {"armv8", "aarch64"},
    {"arm", "armv7+neon"},    {"arm32", "armv7+neon"},
    {"armhf", "armv7+neon"},  {"armv7", "armv7+neon"},
    {"armv7a", "armv7+neon"}, {"armv7l", "armv7+neon"},
    {"amd64", "x86-64-v2"},   {"x86_64", "x86-64-v2"},
    {"x86-64", "x86-64-v2"},  {"x64", "x86-64-v2"},
    {"avx2", "x86-64-v3"},    {"avx512", "x86-64-v4"},
    {"native", "host"},       {"c", "c11"},
    {"cuda", "sm_80"},        {"spirv", "vulkan1.2"},
    {"opencl", "opencl1.2"},  {"metal", "metal2.4"},
};

// Returns the names of all targets, each with its optional features: "aarch64
// (+dotprod, +i8mm, +sve)".
std::vector<std::string> KnownNames() {
  std::vector<std::string> names = {"host"};
  for (const std::string& line : jit::CompileTargetNames()) {
    const size_t features = line.find(" (");
    names.push_back(line.substr(0, features));
    for (size_t begin = line.find("(+"); begin != std::string::npos;
         begin = line.find(" +", begin + 2)) {
      const size_t end = line.find_first_of(",)", begin);
      names.push_back(line.substr(begin + 2, end - begin - 2));
    }
  }
  return names;
}

// Returns a text such as "; did you mean 'aarch64'?" for an unknown target, or
// for the first unknown feature of a target. Returns an empty text if no known
// name is similar.
std::string Suggestion(std::string_view target) {
  const std::vector<std::string> known = KnownNames();
  const std::vector<std::string_view> names(known.begin(), known.end());
  // A processor's name may contain a '+' itself, as "armv7+neon" does. It is
  // removed first, so that the rest is only features.
  for (const std::string_view name : names) {
    if (name.find('+') != std::string_view::npos && target.starts_with(name))
      target.remove_prefix(name.size());
  }
  for (size_t begin = 0; begin <= target.size();) {
    const size_t end = std::min(target.find('+', begin), target.size());
    const std::string_view part = target.substr(begin, end - begin);
    begin = end + 1;
    if (part.empty() || std::ranges::find(names, part) != names.end()) continue;
    const auto* const row = std::ranges::find(kAliases, part, &Alias::alias);
    if (row != std::end(kAliases))
      return "; did you mean '" + std::string(row->name) + "'?";
    if (std::string text = DidYouMean(part, names); !text.empty()) return text;
  }
  return "";
}

Status AddTargetsOfFile(const std::string& path,
                        std::vector<std::string>& names) {
  EMBER_ASSIGN_OR_RETURN(const std::string text, ReadFile(UserPath(path)));
  const size_t before = names.size();
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line(text.data() + begin, end - begin);
    line = line.substr(0, line.find('#'));
    const size_t first = line.find_first_not_of(" \t\r");
    if (first != std::string_view::npos) {
      const size_t last = line.find_last_not_of(" \t\r");
      names.emplace_back(line.substr(first, last + 1 - first));
    }
    begin = end + 1;
  }
  if (names.size() > before) return OkStatus();
  return InvalidArgumentError("'" + path +
                              "': expected a target a line, found none");
}

StatusOr<std::vector<std::string>> TargetNames(
    const std::vector<std::string>& flags) {
  std::vector<std::string> names;
  for (const std::string& flag : flags) {
    for (size_t begin = 0; begin <= flag.size();) {
      const size_t end = std::min(flag.find(',', begin), flag.size());
      const std::string name = flag.substr(begin, end - begin);
      if (name.starts_with('@')) {
        EMBER_RETURN_IF_ERROR(AddTargetsOfFile(name.substr(1), names));
      } else {
        names.push_back(name);
      }
      begin = end + 1;
    }
  }
  return names;
}

}  // namespace

StatusOr<std::vector<jit::CompileTarget>> FindCompileTargets(
    const std::vector<std::string>& flags) {
  const auto names = TargetNames(flags);
  if (!names.ok()) return names.status().WithContext("--target");
  std::vector<jit::CompileTarget> targets;
  for (const std::string& name : *names) {
    auto target = jit::FindCompileTarget(name);
    if (!target.ok()) {
      return CommandLineError(
          "--target: " + std::string(target.status().message()) +
          Suggestion(name));
    }
    targets.push_back(*std::move(target));
  }
  return targets;
}

}  // namespace ember::tools
