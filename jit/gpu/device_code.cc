#include "jit/gpu/device_code.h"

#include <iterator>
#include <memory>
#include <utility>

#include "base/check.h"

namespace ember::jit::gpu {
namespace {

vm::DevicePhase PhaseOf(const PhaseCode& code) {
  vm::DevicePhase phase;
  phase.entry_point = code.entry_point;
  for (const PhaseCode::Binding& binding : code.bindings)
    phase.bindings.push_back({binding.buffer, binding.is_sliced});
  phase.has_checks = code.has_checks;
  phase.invocations = static_cast<uint32_t>(code.invocations);
  phase.tasks_per_workgroup = static_cast<uint32_t>(code.tasks_per_workgroup);
  phase.shared_bytes = static_cast<uint32_t>(code.dynamic_shared_bytes);
  phase.most_iterations = code.iterations;
  phase.boxes = code.boxes;
  phase.most_workgroups = static_cast<uint32_t>(code.most_workgroups);
  return phase;
}

}  // namespace

vm::KernelCode KernelCodeOf(DeviceCode code) {
  vm::KernelCode result;
  size_t format = 0;
  while (format < std::size(vm::kKernelFormats) &&
         vm::kKernelFormats[format].text != code.format)
    ++format;
  EMBER_CHECK(format < std::size(vm::kKernelFormats)) << code.format;
  result.format = static_cast<vm::KernelFormat>(format);
  // SPIR-V consists of words of 4 bytes, so its code needs that alignment.
  result.alignment = result.format == vm::KernelFormat::kSpirv ? 4 : 1;
  for (const auto* phases : {&code.prologue, &code.phases}) {
    for (const PhaseCode& phase : *phases)
      result.device.push_back(PhaseOf(phase));
  }
  auto owner = std::make_shared<const DeviceCode>(std::move(code));
  result.bytes = owner->code;
  result.owner = std::move(owner);
  return result;
}

std::string FiguresOf(const DeviceCode& code, const std::string& comment) {
  std::string text;
  for (const auto* phases : {&code.prologue, &code.phases}) {
    for (const PhaseCode& phase : *phases)
      text += comment + phase.Figures() + "\n";
  }
  return text;
}

}  // namespace ember::jit::gpu
