#include "jit/c/backend.h"

#include <memory>
#include <string>
#include <utility>

#include "base/target_text.h"
#include "jit/backend/stopwatch.h"
#include "jit/c/prelude.h"
#include "jit/c/source.h"
#include "jit/c/target.h"
#include "jit/schedule/cpu/default_schedule.h"

namespace ember::jit {
namespace {

bool Serves(std::string_view target) {
  return TargetText(target).name() == c::kTargetName;
}

// Applies the default schedule. `exact` leaves out Winograd's convolutions,
// which are no faster after a C compiler, and whose code is several times as
// large.
Status Schedule(std::string_view target, const ScheduleOptions&,
                schedule::Schedule& schedule) {
  return schedule::ScheduleByModel(c::ModelOf(target), schedule,
                                   {.exact = true});
}

vm::KernelCode CodeOf(c::Source source) {
  vm::KernelCode code;
  code.format = vm::KernelFormat::kCSource;
  for (const auto* names : {&source.prologue, &source.phases}) {
    for (const std::string& name : *names)
      code.device.emplace_back().entry_point = name;
  }
  auto owner = std::make_shared<const std::string>(std::move(source.functions));
  code.bytes = {reinterpret_cast<const uint8_t*>(owner->data()), owner->size()};
  code.owner = std::move(owner);
  return code;
}

StatusOr<std::unique_ptr<CompiledNest>> Compile(const vm::KernelRequest&,
                                                const loops::LoopNest& nest,
                                                const BuildContext& context,
                                                std::vector<CodeText>* texts) {
  Stopwatch stopwatch;
  EMBER_ASSIGN_OR_RETURN(c::Source source, c::EmitSource(nest, context.log));
  if (texts != nullptr) *texts = {{".c", c::CompleteFile(source.functions)}};
  auto result = std::make_unique<CompiledNest>();
  result->code = CodeOf(std::move(source));
  result->code_bytes = static_cast<int64_t>(result->code.bytes.size());
  result->codegen_ms = stopwatch.Lap();
  return result;
}

}  // namespace

const Backend kCBackend = {"c", Serves, Schedule, Compile};

}  // namespace ember::jit
