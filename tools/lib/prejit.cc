#include "tools/lib/prejit.h"

#include <chrono>
#include <string>
#include <utility>

#include "base/hash.h"
#include "jit/llvm/all_targets.h"
#include "jit/llvm/compiler.h"
#include "vm/format/native_kernels.h"
#include "vm/runtime/tiering.h"

namespace ember::tools {
namespace {

constexpr int kTier = 2;

// Sites with the same dispatch and constants, of whichever program.
bool IsMade(
    const std::vector<std::pair<uint32_t, const vm::DispatchSite*>>& made,
    const vm::DispatchSite& site) {
  for (const auto& [dispatch, other] : made) {
    if (dispatch == site.dispatch && other->inputs == site.inputs) return true;
  }
  return false;
}

}  // namespace

StatusOr<Prejitted> Prejit(const std::shared_ptr<const vm::Module>& module,
                           const jit::CompileTarget& target,
                           const jit::ImageOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  jit::UseAllTargets();
  StatusOr<std::unique_ptr<jit::ObjectCompiler>> compiler =
      jit::ObjectCompiler::Create(target.llvm);
  if (!compiler.ok())
    return compiler.status().WithContext("target " + target.name);
  Prejitted result;
  std::vector<vm::NativeKernel> kernels;
  std::vector<std::pair<uint32_t, const vm::DispatchSite*>> made;
  for (const vm::DispatchSite& site : module->sites()) {
    if (IsMade(made, site)) continue;
    made.emplace_back(site.dispatch, &site);
    vm::KernelRequest request = vm::RequestFor(module, site.group);
    request.target = target.target;
    request.tier = kTier;
    StatusOr<vm::KernelImage> image =
        jit::BuildImage(request, **compiler, options);
    PrejitRow& row = result.rows.emplace_back();
    row.dispatch = request.dispatch->name;
    if (!image.ok()) {
      row.declined = image.status().message();
      continue;
    }
    row.code_bytes = static_cast<int64_t>(image->code.bytes.size());
    row.phases = image->phases.size();
    kernels.push_back({site.dispatch, site.inputs, *std::move(image)});
  }
  result.kernels = kernels.size();
  auto bytes =
      std::make_shared<const std::string>(vm::WriteNativeKernels(kernels));
  result.section.target = target.target;
  result.section.data = {reinterpret_cast<const uint8_t*>(bytes->data()),
                         bytes->size()};
  result.section.hash = HashBytes(result.section.data);
  result.section.owner = std::move(bytes);
  const std::chrono::duration<double, std::milli> took =
      std::chrono::steady_clock::now() - start;
  result.ms = took.count();
  return result;
}

}  // namespace ember::tools
