#include <string>
#include <utility>

#include "base/hash.h"
#include "jit/gpu/kernel_abi.h"
#include "jit/gpu/testing/run_nest.h"
#include "jit/loops/text/text.h"
#include "jit/ptx/compiler.h"
#include "jit/ptx/target.h"
#include "jit/ptx/testing/assembler.h"
#include "jit/ptx/testing/device.h"
#include "jit/schedule/gpu/schedule.h"
#include "jit/target/gpu_model.h"
#include "jit/target/matrix_instructions.h"
#include "tests/nests/runs.h"

namespace ember::nests {

namespace ptx = jit::ptx;

namespace {

// Returns the target of nests. f32 products may use tf32: their factors are
// small numbers here, which tf32 represents exactly.
std::string TargetOfNests() {
  return jit::WithTf32(ptx::TestDevice()->target());
}

// Compiles the nest, unless the last call compiled the same one: cases call a
// nest with many parameters, so its code is kept.
StatusOr<const jit::gpu::DeviceCode*> Compile(const loops::LoopNest& nest) {
  struct Compiled {
    std::string text;
    jit::gpu::DeviceCode code;
  };
  static Compiled& kept = *new Compiled;
  std::string text = loops::ToText(nest);
  if (kept.text == text) return &kept.code;
  const ptx::Target target = ptx::Target::Of(TargetOfNests());
  // Number of phases above which a nest is always assembled. Starting the
  // assembler takes most of the time, so only one in eight smaller nests is
  // assembled.
  constexpr size_t kManyPhases = 8;
  const bool assembles =
      ptx::HasAssembler() &&
      (nest.phases.size() > kManyPhases || HashString(text) % 8 == 0);
  ptx::CodeTexts texts;
  EMBER_ASSIGN_OR_RETURN(
      jit::gpu::DeviceCode code,
      ptx::CompileNest(nest, target, assembles ? &texts : nullptr));
  if (assembles) {
    const std::string wrong = ptx::Assemble(texts.ptx, target.processor);
    if (!wrong.empty()) return InternalError(wrong);
  }
  kept = {.text = std::move(text), .code = std::move(code)};
  return &kept.code;
}

}  // namespace

std::string PtxMachine() { return std::string(ptx::TestDevice()->target()); }

std::optional<std::vector<loops::MatrixType>> PtxMatrices() {
  std::vector<loops::MatrixType> types = jit::MatrixTypesOf(TargetOfNests());
  // Products of matrices that several warps compute together are left out: they
  // need a nest whose extents fit several warps, which random nests hardly ever
  // have.
  std::erase_if(types, [](const loops::MatrixType& type) {
    return jit::WarpsOfMatrix(type) > 1;
  });
  return types;
}

Status ScheduleForPtx(schedule::Schedule& schedule) {
  return ScheduleForGpu(jit::GpuModel::Of(ptx::TestDevice()->target()),
                        schedule);
}

Status RunPtx(const loops::LoopNest& nest,
              const std::vector<int64_t>& parameters, Contents& buffers) {
  EMBER_ASSIGN_OR_RETURN(const jit::gpu::DeviceCode* const code, Compile(nest));
  return jit::gpu::RunNest(ptx::TestDevice(), nest, *code, parameters, buffers);
}

}  // namespace ember::nests
