#include "vm/runtime/kernels/layout.h"

#include <algorithm>

#include "base/concat.h"
#include "base/rounding.h"
#include "tensor/range_rules.h"
#include "tensor/scalar.h"

namespace ember::vm {
namespace {

// Largest number of bytes of a call's temporaries. A call that needs more is
// refused before memory is allocated.
constexpr int64_t kMaxBytes = int64_t{1} << 36;

std::vector<uint64_t> Evaluate(std::span<const tensor::Instruction> formulas,
                               std::span<const int64_t> parameters) {
  std::vector<uint64_t> values;
  values.reserve(formulas.size());
  for (const tensor::Instruction& in : formulas) {
    switch (in.opcode) {
      case tensor::Opcode::kConstant:
        values.push_back(in.immediate);
        break;
      case tensor::Opcode::kParameter:
        values.push_back(static_cast<uint64_t>(parameters[in.immediate]));
        break;
      default:
        // Unused operands of the instruction are 0 and so refer to formula 0,
        // whose value is ignored.
        values.push_back(
            tensor::EvaluateScalar(in.opcode, formulas[in.a].type, in.type,
                                   {values[in.a], values[in.b], values[in.c]}));
    }
  }
  return values;
}

}  // namespace

StatusOr<KernelLayout> LayOutKernel(const KernelImage& image,
                                    std::span<const int64_t> parameters,
                                    int64_t alignment) {
  const std::vector<uint64_t> values = Evaluate(image.formulas, parameters);
  KernelLayout layout;
  for (const uint32_t phase : image.phases) {
    const auto tasks = static_cast<int64_t>(values[phase]);
    layout.phase_tasks.push_back(tasks);
    // The number of tasks is limited, because code generation relies on this
    // bound for the ranges of variables.
    if (tasks <= tensor::kMaxExtent) continue;
    return ResourceExhaustedError(
        Concat({"dispatch @", image.dispatch, ": ", tasks, " tasks"}));
  }
  for (const uint32_t iterations : image.iterations)
    layout.phase_iterations.push_back(static_cast<int64_t>(values[iterations]));
  for (const KernelBuffer& buffer : image.buffers) {
    int64_t bytes = DTypeByteSize(buffer.type);
    std::vector<int64_t>& extents = layout.extents.emplace_back();
    for (const uint32_t extent : buffer.extents) {
      extents.push_back(
          std::max<int64_t>(static_cast<int64_t>(values[extent]), 0));
      // Only the temporaries of calls and tasks are limited here. The plan has
      // checked the extents of the dispatch's buffers, and a packed buffer is
      // refused when its memory cannot be allocated.
      const bool overflows =
          __builtin_mul_overflow(bytes, extents.back(), &bytes);
      if (overflows || bytes > kMaxBytes) bytes = kMaxBytes + 1;
    }
    layout.bytes.push_back(bytes);
    int64_t* const total =
        buffer.scope == KernelScope::kCall   ? &layout.call_bytes
        : buffer.scope == KernelScope::kTask ? &layout.task_bytes
                                             : nullptr;
    layout.offsets.push_back(total == nullptr ? 0 : *total);
    if (total == nullptr) continue;
    if (bytes > kMaxBytes - *total) {
      return ResourceExhaustedError(
          Concat({"dispatch @", image.dispatch, ": temporary %", buffer.name,
                  " of ", bytes, " bytes"}));
    }
    *total += RoundUp(bytes, alignment);
  }
  return layout;
}

Status FailedCheck(const std::string& dispatch, const std::string& buffer,
                   uint32_t dim, int64_t index, int64_t extent) {
  return InvalidArgumentError(
      Concat({"dispatch @", dispatch, ": buffer %", buffer, ": expected index ",
              dim, " in 0..", extent - 1, ", found ", index}));
}

Status CheckConstants(const KernelImage& image, const KernelLayout& layout,
                      std::span<const std::span<const uint8_t>> constants) {
  for (size_t i = 0; i < constants.size(); ++i) {
    const auto size = static_cast<int64_t>(constants[i].size());
    if (size == 0 || size >= layout.bytes[i]) continue;
    return InvalidArgumentError(Concat(
        {"dispatch @", image.dispatch, ": buffer '", image.buffers[i].name,
         "': expected at least ", layout.bytes[i], " bytes, found ", size}));
  }
  return OkStatus();
}

}  // namespace ember::vm
