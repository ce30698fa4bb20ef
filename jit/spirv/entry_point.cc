#include "jit/spirv/entry_point.h"

#include <utility>

namespace ember::jit::spirv {

void DeclareEntryPoint(ModuleBuilder& module, Id function,
                       std::string_view name, std::span<const Id> interface,
                       int64_t invocations, const Target& target) {
  module.Name(function, name);
  module.EntryPoint(function, name, interface);
  module.ExecutionMode(function, spv::ExecutionMode::LocalSize,
                       {static_cast<uint32_t>(invocations), 1, 1});
  const auto declare = [&](bool has_it, spv::Capability capability,
                           spv::ExecutionMode mode, uint32_t bits) {
    if (!has_it) return;
    module.Require(capability);
    module.ExecutionMode(function, mode, {bits});
  };
  const std::pair<const Target::FloatModes*, uint32_t> widths[] = {
      {&target.float16, 16}, {&target.float32, 32}, {&target.float64, 64}};
  for (const auto& [modes, bits] : widths) {
    declare(modes->nan, spv::Capability::SignedZeroInfNanPreserve,
            spv::ExecutionMode::SignedZeroInfNanPreserve, bits);
    declare(modes->denorm, spv::Capability::DenormPreserve,
            spv::ExecutionMode::DenormPreserve, bits);
    declare(modes->rte, spv::Capability::RoundingModeRTE,
            spv::ExecutionMode::RoundingModeRTE, bits);
  }
}

Value WorkgroupNumber(CodeBuilder& c) {
  ModuleBuilder& module = c.module();
  const Id word = module.TypeOf(Scalar::kI32);
  const Id words = module.VectorType(Scalar::kI32, 3);
  const auto component = [&](spv::BuiltIn which, const char* name,
                             int64_t dim) {
    return c.Load(Scalar::kI32,
                  c.Pointer(spv::StorageClass::Input, word,
                            module.BuiltIn(which, words, name), {c.Int(dim)}),
                  0);
  };
  const Value y = component(spv::BuiltIn::WorkgroupId, "workgroup", 1);
  const Value width = component(spv::BuiltIn::NumWorkgroups, "workgroups", 0);
  return c.Add(component(spv::BuiltIn::WorkgroupId, "workgroup", 0),
               c.Multiply(y, width));
}

}  // namespace ember::jit::spirv
