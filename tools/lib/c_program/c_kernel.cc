#include "tools/lib/c_program/c_kernel.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/concat.h"
#include "jit/kernel/build_image.h"
#include "tools/lib/c_program/function_facts.h"
#include "tools/lib/c_program/memory_layout.h"
#include "vm/runtime/kernels/layout.h"

namespace ember::tools {
namespace {

// Adds the functions of the phases that run in each call.
void AddPhases(const vm::KernelImage& image, const vm::KernelLayout& layout,
               CKernel& kernel, std::set<uint32_t>& used) {
  const std::string_view text(
      reinterpret_cast<const char*>(image.code.bytes.data()),
      image.code.bytes.size());
  std::vector<std::string> functions = SplitFunctions(text);
  EMBER_CHECK(functions.size() == image.phases.size())
      << "expected a function for each phase";
  for (size_t i = image.prologue_count; i < functions.size(); ++i) {
    if (layout.phase_tasks[i] < 1) continue;
    const FunctionFacts facts = FactsOf(functions[i]);
    kernel.phases.push_back({image.code.device[i].entry_point,
                             std::move(functions[i]), layout.phase_tasks[i],
                             facts.can_fail});
    kernel.array_bytes = std::max(kernel.array_bytes, facts.array_bytes);
    used.insert(facts.buffers.begin(), facts.buffers.end());
  }
}

}  // namespace

StatusOr<CKernel> MakeCKernel(const vm::KernelRequest& request,
                              jit::ObjectCompiler& compiler,
                              jit::Compiler* packer) {
  jit::PackedConstants packed;
  StatusOr<vm::KernelImage> built =
      jit::BuildImage(request, compiler, {.packer = packer}, &packed);
  if (!built.ok()) {
    return built.status().WithContext(
        Concat({"dispatch @", request.dispatch->name,
                ": expected a dispatch of which C can be made (--emit=c leaves "
                "others to a runtime)"}));
  }
  const vm::KernelImage& image = *built;
  if (image.prologue_count > 0 && packed.buffers.empty()) {
    return UnimplementedError(
        Concat({"dispatch @", image.dispatch,
                ": expected constants that can be packed before the run, found "
                "others, such as bool"}));
  }
  EMBER_ASSIGN_OR_RETURN(const vm::KernelLayout layout,
                         vm::LayOutKernel(image, {}, kBlockAlignment));
  CKernel kernel;
  std::set<uint32_t> used;
  AddPhases(image, layout, kernel, used);
  kernel.scratch_bytes = layout.call_bytes + layout.task_bytes;
  kernel.packed_owner = std::move(packed.owner);
  size_t next_packed = 0;
  for (size_t i = 0; i < image.buffers.size(); ++i) {
    CKernel::Buffer& buffer = kernel.buffers.emplace_back();
    buffer.scope = image.buffers[i].scope;
    buffer.type = image.buffers[i].type;
    buffer.bytes = layout.bytes[i];
    buffer.is_used = used.contains(static_cast<uint32_t>(i));
    if (buffer.scope == vm::KernelScope::kCall)
      buffer.scratch_offset = layout.offsets[i];
    if (buffer.scope == vm::KernelScope::kTask)
      buffer.scratch_offset = layout.call_bytes + layout.offsets[i];
    if (buffer.scope == vm::KernelScope::kPacked)
      buffer.packed = packed.buffers[next_packed++];
  }
  return kernel;
}

}  // namespace ember::tools
