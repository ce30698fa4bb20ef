#include "jit/spirv/backend.h"

#include <memory>
#include <string>
#include <utility>

#include "base/concat.h"
#include "jit/backend/stopwatch.h"
#include "jit/gpu/device_code.h"
#include "jit/schedule/gpu/device_schedule.h"
#include "jit/spirv/emitter.h"
#include "jit/spirv/target.h"
#include "jit/spirv/tools.h"

namespace ember::jit {
namespace {

bool Serves(std::string_view target) { return target.starts_with("vulkan"); }

// Returns the disassembled module, with the numbers of instructions, bytes and
// so on of each entry point before it.
StatusOr<std::string> TextOf(const spirv::ModuleCode& module) {
  std::string text = gpu::FiguresOf(module.ForDevice(), "; ");
  text += spirv::DisassembleModule(module.words);
  const Status valid = spirv::ValidateModule(module.words);
  if (valid.code() == StatusCode::kUnimplemented) {
    text += Concat({"; not validated: ", valid.message(), "\n"});
  } else {
    EMBER_RETURN_IF_ERROR(valid);
  }
  return text;
}

StatusOr<std::unique_ptr<CompiledNest>> Compile(
    const vm::KernelRequest& request, const loops::LoopNest& nest,
    const BuildContext& context, std::vector<CodeText>* texts) {
  Stopwatch stopwatch;
  const spirv::Target target = spirv::Target::Of(request.target);
  EMBER_ASSIGN_OR_RETURN(const spirv::ModuleCode module,
                         spirv::EmitModule(nest, target, context.log));
  auto result = std::make_unique<CompiledNest>();
  result->code = gpu::KernelCodeOf(module.ForDevice());
  result->code_bytes = static_cast<int64_t>(result->code.bytes.size());
  result->codegen_ms = stopwatch.Lap();
  if (texts != nullptr) {
    EMBER_ASSIGN_OR_RETURN(std::string text, TextOf(module));
    *texts = {{".spvasm", std::move(text)}};
  }
  return result;
}

}  // namespace

const Backend kVulkanBackend = {"vulkan", Serves, schedule::ScheduleForDevice,
                                Compile};

}  // namespace ember::jit
