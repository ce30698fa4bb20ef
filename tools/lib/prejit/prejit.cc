#include "tools/lib/prejit/prejit.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "base/hash.h"
#include "hal/cpu/target.h"
#include "jit/kernel/build_image.h"
#include "jit/kernel/build_kernel.h"
#include "jit/kernel/content_key.h"
#include "jit/llvm/all_targets.h"
#include "jit/llvm/compiler.h"
#include "jit/llvm/library/full_compiler.h"
#include "tools/lib/prejit/kernel_race.h"
#include "tools/lib/prejit/kernel_shapes.h"
#include "vm/format/kernel_image.h"
#include "vm/format/native_section.h"
#include "vm/runtime/dispatch/tiering.h"

namespace ember::tools {
namespace {

constexpr int kTier = 2;

// True if kernels were already made for another site with the same dispatch and
// constants, in this or another program of the module. Such sites share their
// kernels.
bool IsMade(
    const std::vector<std::pair<uint32_t, const vm::DispatchSite*>>& made,
    const vm::DispatchSite& site) {
  for (const auto& [dispatch, other] : made) {
    if (dispatch == site.dispatch && other->inputs == site.inputs) return true;
  }
  return false;
}

int64_t BytesOf(const std::vector<std::span<const uint8_t>>& buffers) {
  size_t bytes = 0;
  for (const std::span<const uint8_t> buffer : buffers) bytes += buffer.size();
  return static_cast<int64_t>(bytes);
}

class Prejitter {
 public:
  Prejitter(const vm::Module& module, const jit::CompileTarget& target,
            const PrejitOptions& options)
      : module_(module), target_(target), options_(options) {}

  Status Run(const std::shared_ptr<const vm::Module>& module) {
    jit::llvm_ir::UseAllTargets();
    auto compiler = target_.llvm.empty()
                        ? jit::llvm_ir::NewFullCompiler()
                        : jit::llvm_ir::NewLlvmCompiler(target_.llvm);
    if (!compiler.ok())
      return compiler.status().WithContext("target " + target_.name);
    compiler_ = *std::move(compiler);
    if (options_.packed_weights != PackedWeights::kNone) {
      // The code that packs weights is generated and run on this machine, so it
      // needs a compiler for this machine. If there is none, weights are packed
      // when the kernels are loaded.
      auto packer = jit::llvm_ir::NewLlvmCompiler();
      if (packer.ok()) packer_ = *std::move(packer);
    }
    std::vector<std::pair<uint32_t, const vm::DispatchSite*>> made;
    const std::span<const vm::DispatchSite> sites = module_.sites();
    for (size_t i = 0; i < sites.size(); ++i) {
      const vm::DispatchSite& site = sites[i];
      if (IsMade(made, site)) continue;
      made.emplace_back(site.dispatch, &site);
      EMBER_RETURN_IF_ERROR(ReportStep(
          options_.progress,
          {"kernels", module_.definition().dispatches[site.dispatch].name,
           static_cast<int64_t>(i), static_cast<int64_t>(sites.size())}));
      MakeKernels(site, vm::RequestFor(module, site.group));
    }
    return OkStatus();
  }

  Prejitted Take() && {
    result_.target = target_.target;
    result_.kernels = kernels_.size();
    for (vm::NativeKernel& kernel : kernels_) TakeFunctions(kernel.image.code);
    result_.bytes = vm::WriteNativeKernels(kernels_);
    return std::move(result_);
  }

 private:
  // Moves the C functions of a kernel from its image to the text of the C file.
  // Equal kernels have equally named functions, so a function that is already
  // there is skipped.
  void TakeFunctions(vm::KernelCode& code) {
    if (code.format != vm::KernelFormat::kCSource) return;
    bool is_new = false;
    for (const vm::DevicePhase& phase : code.device) {
      if (!function_names_.insert(phase.entry_point).second) continue;
      result_.function_names.push_back(phase.entry_point);
      is_new = true;
    }
    if (is_new) {
      result_.functions.append(reinterpret_cast<const char*>(code.bytes.data()),
                               code.bytes.size());
      result_.functions += "\n";
    }
    code.bytes = {};
    code.owner = nullptr;
  }

  // Makes the kernels of one dispatch: one for all shapes and, if there is a
  // profile, one for each of its shapes. A dispatch that the profile lacks gets
  // none.
  void MakeKernels(const vm::DispatchSite& site, vm::KernelRequest request) {
    request.target = target_.target;
    request.tier = kTier;
    if (options_.profile == nullptr) return Make(site, request);
    const auto profile = std::ranges::find(*options_.profile, site.dispatch,
                                           &vm::DispatchProfile::dispatch);
    if (profile == options_.profile->end()) {
      ++result_.cold;
      return;
    }
    Make(site, request);
    for (const std::vector<int64_t>& shape : ShapesOfKernels(*profile)) {
      request.parameters = shape;
      Make(site, request);
    }
  }

  // Compares the kernel with tier 0. Returns the times if the kernel is slower.
  // Returns nothing if it is not, or if it is not compared: slow kernels are
  // kept, parameters are open, or this machine cannot run code for the target.
  std::optional<Lap> LostBy(const vm::KernelRequest& request,
                            const std::string& schedule) {
    const bool runs_here = hal::MissingFeatures(target_.target).empty();
    if (!options_.drops_slow || !runs_here ||
        request.parameters.size() != request.dispatch->parameters.size() ||
        vm::OpenParameters(request.parameters) > 0) {
      return std::nullopt;
    }
    // The kernel is compiled a second time, for running it in this process
    // instead of writing it to a file.
    const auto kernel = jit::BuildKernel(
        request, *compiler_,
        {.given_schedule = schedule, .has_canonical_names = !schedule.empty()});
    if (!kernel.ok() || (*kernel)->host() == nullptr) return std::nullopt;
    return LapLost(request, **kernel, options_.clock);
  }

  // Returns the schedule that tuning found for the request, as text; empty if
  // there is none, or if kernels must round exactly (is_exact).
  std::string TunedFor(const vm::KernelRequest& request) const {
    if (options_.tuned == nullptr || options_.is_exact) return "";
    const jit::TunedSchedule* const found = options_.tuned->Find(
        jit::ContentKey(jit::WithCanonicalNames(request)), request.target);
    return found == nullptr ? "" : found->steps;
  }

  StatusOr<vm::KernelImage> Build(const vm::KernelRequest& request,
                                  const std::string& schedule,
                                  jit::PackedConstants* packed) {
    return jit::BuildImage(request, *compiler_,
                           {.is_exact = options_.is_exact,
                            .given_schedule = schedule,
                            .has_canonical_names = !schedule.empty(),
                            .packer = packer_.get()},
                           packed);
  }

  void Make(const vm::DispatchSite& site, const vm::KernelRequest& request) {
    jit::PackedConstants packed;
    PrejitRow& row = result_.rows.emplace_back();
    std::string schedule = TunedFor(request);
    StatusOr<vm::KernelImage> image = Build(request, schedule, &packed);
    if (!schedule.empty() && !image.ok()) {
      row.not_tuned = image.status().message();
      schedule.clear();
      image = Build(request, schedule, &packed);
    }
    row.is_tuned = !schedule.empty();
    row.dispatch = request.dispatch->name;
    row.shape = request.parameters;
    if (!image.ok()) {
      row.declined = image.status().message();
      return;
    }
    if (const std::optional<Lap> lost = LostBy(request, schedule)) {
      char text[96];
      std::snprintf(text, sizeof text,
                    "slower than the interpreter: %.2f times its time",
                    lost->ratio());
      row.declined = text;
      return;
    }
    row.code_bytes = static_cast<int64_t>(image->code.bytes.size());
    const int64_t packed_bytes = BytesOf(packed.buffers);
    // Packed weights are stored only if they are at most this many times as
    // large as the original ones. Reading larger ones from disk would take
    // longer than packing.
    constexpr int64_t kMaxGrowth = 2;
    if (options_.packed_weights == PackedWeights::kAuto &&
        packed_bytes > kMaxGrowth * BytesOf(request.constant_data)) {
      packed = {};
    } else {
      row.packed_bytes = packed_bytes;
    }
    row.phases = image->phases.size();
    kernels_.push_back({site.dispatch, site.inputs, *std::move(image),
                        std::move(packed.buffers), std::move(packed.owner)});
  }

  const vm::Module& module_;
  const jit::CompileTarget& target_;
  const PrejitOptions& options_;
  std::unique_ptr<jit::ObjectCompiler> compiler_;
  // The compiler for this machine, with which weights are packed; null if no
  // weights are packed.
  std::unique_ptr<jit::Compiler> packer_;
  std::vector<vm::NativeKernel> kernels_;
  std::set<std::string> function_names_;
  Prejitted result_;
};

}  // namespace

StatusOr<Prejitted> Prejit(const std::shared_ptr<const vm::Module>& module,
                           const jit::CompileTarget& target,
                           const PrejitOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  Prejitter prejitter(*module, target, options);
  EMBER_RETURN_IF_ERROR(prejitter.Run(module));
  Prejitted result = std::move(prejitter).Take();
  const std::chrono::duration<double, std::milli> took =
      std::chrono::steady_clock::now() - start;
  result.ms = took.count();
  return result;
}

vm::NativeSection SectionOf(Prejitted made) {
  auto bytes = std::make_shared<const std::string>(
      vm::JoinNativeSection(made.bytes.parts()));
  vm::NativeSection section;
  section.target = std::move(made.target);
  section.data = {reinterpret_cast<const uint8_t*>(bytes->data()),
                  bytes->size()};
  section.hash = HashBytes(vm::HashedPart(section.data));
  section.owner = std::move(bytes);
  return section;
}

jit::TunedSchedules SchedulesOf(const std::shared_ptr<const vm::Module>& module,
                                const std::vector<vm::DispatchProfile>* shapes,
                                const jit::TunedSchedules& tuned) {
  std::set<std::string> keys;
  const auto add = [&](const vm::KernelRequest& request) {
    keys.insert(jit::ContentKey(jit::WithCanonicalNames(request)));
  };
  for (const vm::DispatchSite& site : module->sites()) {
    vm::KernelRequest request = vm::RequestFor(module, site.group);
    add(request);
    if (shapes == nullptr) continue;
    const auto found = std::ranges::find(*shapes, site.dispatch,
                                         &vm::DispatchProfile::dispatch);
    if (found == shapes->end()) continue;
    for (const vm::DispatchProfile::Shape& shape : found->shapes) {
      request.parameters = shape.parameters;
      add(request);
    }
  }
  jit::TunedSchedules own;
  tuned.ForEach([&](const jit::TunedSchedule& schedule) {
    if (keys.contains(schedule.key)) own.Add(schedule);
  });
  return own;
}

std::vector<vm::DispatchProfile> HotPart(
    const std::vector<vm::DispatchProfile>& profile, double percent) {
  constexpr size_t kMaxShapes = 8;
  constexpr int64_t kLeastPart = 100;
  double all = 0, taken = 0;
  for (const vm::DispatchProfile& dispatch : profile)
    all += static_cast<double>(dispatch.total_ns());
  std::vector<vm::DispatchProfile> hot;
  for (const vm::DispatchProfile& dispatch : profile) {
    if (!hot.empty() && taken >= all * percent / 100) break;
    const int64_t ns = dispatch.total_ns();
    taken += static_cast<double>(ns);
    vm::DispatchProfile& part = hot.emplace_back();
    part.dispatch = dispatch.dispatch;
    for (const vm::DispatchProfile::Shape& shape : dispatch.shapes) {
      const bool is_worth_it =
          part.shapes.empty() || shape.ns >= ns / kLeastPart;
      if (is_worth_it && part.shapes.size() < kMaxShapes)
        part.shapes.push_back(shape);
    }
  }
  return hot;
}

}  // namespace ember::tools
