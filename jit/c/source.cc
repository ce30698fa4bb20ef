#include "jit/c/source.h"

#include <cstdint>
#include <cstdio>

#include "base/concat.h"
#include "base/hash.h"
#include "jit/c/language.h"
#include "jit/c_like/identifiers.h"
#include "jit/c_like/phase_printer.h"
#include "jit/loops/text/text.h"
#include "jit/pipeline/target_passes.h"

namespace ember::jit::c {
namespace {

// Largest number of characters of the nest's name that are used in its
// functions' names.
constexpr size_t kMaxCharacters = 31;

std::string PrefixOf(const loops::LoopNest& nest) {
  char hash[17];
  std::snprintf(
      hash, sizeof(hash), "%016llx",
      static_cast<unsigned long long>(HashString(loops::ToText(nest))));
  return Concat({"ember_",
                 c_like::Identifier(nest.name).substr(0, kMaxCharacters), "_",
                 hash, "_"});
}

Status EmitPhases(const loops::LoopNest& nest,
                  const std::vector<loops::Phase>& phases,
                  const std::string& prefix, Source& source,
                  std::vector<std::string>& names) {
  for (size_t i = 0; i < phases.size(); ++i) {
    std::string name = Concat({prefix, i});
    StatusOr<std::string> function =
        c_like::PrintPhase(kLanguage, nest, phases[i], name);
    if (!function.ok())
      return function.status().WithContext(Concat({"loops @", nest.name}));
    if (!source.functions.empty()) source.functions += "\n";
    source.functions += *function;
    names.push_back(std::move(name));
  }
  return OkStatus();
}

}  // namespace

StatusOr<Source> EmitSource(const loops::LoopNest& nest, PassLog* log) {
  const std::string prefix = PrefixOf(nest);
  Source source;
  TargetBuild build = {
      .nest = nest, .operations = kLanguage.operations, .marks_integers = true};
  build.emit = [&](const loops::LoopNest& legal) -> Status {
    EMBER_RETURN_IF_ERROR(EmitPhases(legal, legal.prologue, prefix + "prologue",
                                     source, source.prologue));
    return EmitPhases(legal, legal.phases, prefix + "phase", source,
                      source.phases);
  };
  EMBER_RETURN_IF_ERROR(RunTargetPasses(build, log));
  return source;
}

}  // namespace ember::jit::c
