#include "jit/metal/backend.h"

#include <memory>
#include <utility>

#include "jit/backend/stopwatch.h"
#include "jit/c_like/kernels.h"
#include "jit/gpu/device_code.h"
#include "jit/metal/source.h"
#include "jit/metal/target.h"
#include "jit/schedule/gpu/device_schedule.h"

namespace ember::jit {
namespace {

bool Serves(std::string_view target) { return target.starts_with("metal"); }

StatusOr<std::unique_ptr<CompiledNest>> Compile(
    const vm::KernelRequest& request, const loops::LoopNest& nest,
    const BuildContext& context, std::vector<CodeText>* texts) {
  Stopwatch stopwatch;
  EMBER_ASSIGN_OR_RETURN(
      gpu::DeviceCode code,
      metal::EmitProgram(nest, metal::Target::Of(request.target), context.log));
  if (texts != nullptr) *texts = {{".metal", c_like::TextOf(code)}};
  auto result = std::make_unique<CompiledNest>();
  result->code = gpu::KernelCodeOf(std::move(code));
  result->code_bytes = static_cast<int64_t>(result->code.bytes.size());
  result->codegen_ms = stopwatch.Lap();
  return result;
}

}  // namespace

const Backend kMetalBackend = {"metal", Serves, schedule::ScheduleForDevice,
                               Compile};

}  // namespace ember::jit
