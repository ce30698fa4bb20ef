#include "jit/c_like/kernels.h"

#include <utility>
#include <vector>

#include "base/concat.h"
#include "jit/c_like/kernel_function.h"
#include "jit/c_like/phase_printer.h"
#include "jit/pipeline/target_passes.h"

namespace ember::jit::c_like {
namespace {

// Appends the phases of a legalised device nest to `text`, as kernels whose
// names are `kind` and a number.
Status PrintPhases(const KernelsBuild& build, const loops::LoopNest& nest,
                   const std::vector<loops::Phase>& phases,
                   std::string_view kind, std::string& text,
                   std::vector<gpu::PhaseCode>& codes) {
  for (size_t i = 0; i < phases.size(); ++i) {
    const Language& language = build.language;
    gpu::PhaseCode code =
        DescribeKernel(language, nest, phases[i], Concat({kind, i}));
    const StatusOr<std::string> function =
        PrintPhase(language, nest, phases[i], code.entry_point);
    if (!function.ok())
      return function.status().WithContext(Concat({"loops @", nest.name}));
    if (build.declarations != nullptr) {
      EMBER_ASSIGN_OR_RETURN(const std::string declarations,
                             build.declarations(nest, phases[i]));
      text += declarations;
    }
    text += "\n" + *function;
    codes.push_back(std::move(code));
  }
  return OkStatus();
}

}  // namespace

StatusOr<gpu::DeviceCode> PrintKernels(const loops::LoopNest& nest,
                                       const KernelsBuild& build,
                                       PassLog* log) {
  gpu::DeviceCode code;
  code.format = build.format;
  std::string text(build.prelude);
  TargetBuild passes = {.nest = nest,
                        .operations = build.language.operations,
                        .device = &build.device,
                        .has_launch_limits = true,
                        .marks_integers = true};
  passes.emit = [&](const loops::LoopNest& legal) -> Status {
    EMBER_RETURN_IF_ERROR(PrintPhases(build, legal, legal.prologue, "prologue",
                                      text, code.prologue));
    return PrintPhases(build, legal, legal.phases, "phase", text, code.phases);
  };
  EMBER_RETURN_IF_ERROR(RunTargetPasses(passes, log));
  code.code.assign(text.begin(), text.end());
  return code;
}

std::string TextOf(const gpu::DeviceCode& code) {
  return {code.code.begin(), code.code.end()};
}

}  // namespace ember::jit::c_like
