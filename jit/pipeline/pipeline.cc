#include "jit/pipeline/pipeline.h"

#include <cstddef>
#include <cstdio>

#include "jit/legalise/rules.h"
#include "jit/pipeline/nest_passes.h"
#include "jit/pipeline/target_passes.h"

namespace ember::jit {
namespace {

std::string_view NameOf(PassTargets targets) {
  switch (targets) {
    case PassTargets::kAll:
      return "all";
    case PassTargets::kCpus:
      return "CPUs";
    case PassTargets::kGpus:
      return "GPUs";
  }
  return "";
}

// Returns a line of the table of passes. mark: '-' if the pass may be disabled,
// otherwise a space.
std::string Line(std::string_view number, std::string_view name,
                 std::string_view targets, std::string_view doc, char mark) {
  char begin[96];
  std::snprintf(begin, sizeof begin, "%3.*s %c %-22.*s%-6.*s",
                static_cast<int>(number.size()), number.data(), mark,
                static_cast<int>(name.size()), name.data(),
                static_cast<int>(targets.size()), targets.data());
  return begin + std::string(doc) + '\n';
}

}  // namespace

std::vector<PassInfo> Pipeline() {
  std::vector<PassInfo> passes;
  for (const Pass<NestBuild>& pass : NestPasses()) passes.push_back(pass.info);
  for (const Pass<TargetBuild>& pass : TargetPasses())
    passes.push_back(pass.info);
  return passes;
}

std::string PrintPipeline() {
  std::string text;
  size_t number = 0;
  for (const PassInfo& pass : Pipeline()) {
    text += Line(std::to_string(++number), pass.name, NameOf(pass.targets),
                 pass.doc, pass.may_be_disabled ? '-' : ' ');
    if (pass.name != "legalise") continue;
    for (const legalise::RuleRow& rule : legalise::AllRules())
      text += Line("", "  " + std::string(rule.name), "", rule.doc, ' ');
  }
  return text + "Passes with a '-' may be disabled.\n";
}

std::vector<std::string_view> PassesThatMayBeDisabled() {
  std::vector<std::string_view> names;
  for (const PassInfo& pass : Pipeline()) {
    if (pass.may_be_disabled) names.push_back(pass.name);
  }
  return names;
}

}  // namespace ember::jit
