#include "tools/lib/models/tier.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "jit/backend/decline_reasons.h"
#include "tools/lib/cli/command_line_error.h"
#include "tools/lib/cli/load_jit.h"
#include "tools/lib/cli/paths.h"
#include "tools/lib/cli/public_key.h"
#include "tools/lib/cli/show_progress.h"
#include "vm/runtime/dispatch/native_kernels.h"
#include "vm/runtime/dispatch/session_kernels.h"
#include "vm/runtime/kernels/device_kernel.h"
#include "vm/runtime/kernels/overlays.h"

namespace ember::tools {
namespace {

Tier* kept_tier = nullptr;  // the tier that this process uses until it ends;
                            // never deleted

// Returns "name (1.25x)", where the number is the kernel's time divided by tier
// 0's.
std::string NameAndRatio(const std::string& name, const vm::SlowKernel& slow) {
  char ratio[32];
  std::snprintf(
      ratio, sizeof ratio, " (%.2fx)",
      static_cast<double>(slow.kernel_ns) /
          static_cast<double>(std::max<int64_t>(slow.interpreter_ns, 1)));
  return name + ratio;
}

// Returns the text of a table: for each reason a line "reason: dispatch,
// dispatch, …".
std::string DeclineTable(const vm::Tiering& tiering, const vm::Module& module) {
  constexpr size_t kMaxNames = 12;
  const std::string slower(
      jit::Decline(jit::DeclineReason::kSlower, "").message());
  // Maps each reason to the names of the dispatches that have no kernel for it.
  std::map<std::string, std::set<std::string>> dispatches;
  for (const vm::DispatchSite& site : module.sites()) {
    const std::string& name =
        module.definition().dispatches[site.dispatch].name;
    const vm::KernelSlot& slot = *tiering.slot(site.group);
    for (const std::string& reason : slot.decline_reasons())
      dispatches[reason].insert(name);
    const vm::KernelSlot::Kernels* kernels = slot.kernels();
    if (kernels == nullptr) continue;
    for (const vm::SlowKernel& slow : kernels->slow)
      dispatches[slower].insert(NameAndRatio(name, slow));
  }
  std::string text;
  for (const auto& [reason, names] : dispatches) {
    text += reason + ": ";
    size_t count = 0;
    for (const std::string& name : names) {
      if (count == kMaxNames) break;
      text += (count++ == 0 ? "" : ", ") + name;
    }
    if (names.size() > count)
      text += " and " + std::to_string(names.size() - count) + " more";
    text += "\n";
  }
  return text;
}

// Loads a shared object and returns its table of kernels. The object is never
// unloaded.
StatusOr<const void*> LoadTable(const std::string& file,
                                const vm::Module& module) {
  // dlopen searches the system's folders for a path without a slash, so such a
  // path gets "./" in front.
  std::string path = UserPath(file);
  if (path.find('/') == std::string::npos) path = "./" + path;
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    return InvalidArgumentError(
        "--native-library: " +
        std::string(why == nullptr ? "it cannot be loaded" : why));
  }
  const void* const table = dlsym(library, "ember_kernels");
  if (table == nullptr) {
    return InvalidArgumentError(
        "--native-library: " + file +
        ": expected a symbol ember_kernels, found none; a library of vm-prejit "
        "--emit=c or static has it with --symbol=ember_kernels");
  }
  EMBER_RETURN_IF_ERROR(vm::CheckNativeTable(module, table)
                            .WithContext("--native-library: " + file));
  return table;
}

vm::CompileLocation LocationOf(const std::string& jit) {
  if (jit == "worker") return vm::CompileLocation::kWorker;
  return jit == "auto" ? vm::CompileLocation::kWorkerIfThere
                       : vm::CompileLocation::kThread;
}

StatusOr<vm::KernelTier> ParseTier(const std::string& name) {
  if (name == "0") return vm::KernelTier::kInterpreter;
  if (name == "1") return vm::KernelTier::kBaseline;
  if (name == "2") return vm::KernelTier::kOptimized;
  if (name == "auto") return vm::KernelTier::kAuto;
  return CommandLineError("--tier: expected 0, 1, 2 or auto, found '" + name +
                          "'");
}

bool HasJit(const TierOptions& options) {
  return options.tier != "0" && options.jit != "off";
}

StatusOr<vm::NativePermission> PermissionOf(const NativeFlags& flags) {
  vm::NativePermission permission;
  if (flags.key.empty()) {
    if (flags.is_allowed) permission.kind = vm::NativePermission::kAny;
    return permission;
  }
  if (flags.is_allowed) {
    return CommandLineError(
        "--key: expected no --allow-native beside it, which would let unsigned "
        "code run");
  }
  EMBER_ASSIGN_OR_RETURN(permission.key, ReadPublicKey(flags.key));
  permission.kind = vm::NativePermission::kSigned;
  return permission;
}

// Reports each finished kernel to a display of progress, and passes it on to
// another observer. The total is the number of dispatch sites, which is only an
// estimate: sites share kernels, and one site may get several for different
// shapes.
class KernelProgress final : public jit::KernelObserver {
 public:
  KernelProgress(std::shared_ptr<ShownProgress> progress, size_t sites,
                 std::shared_ptr<jit::KernelObserver> next)
      : progress_(std::move(progress)),
        sites_(static_cast<int64_t>(sites)),
        next_(std::move(next)) {}

  bool wants_texts() const override {
    return next_ != nullptr && next_->wants_texts();
  }
  void Observe(const jit::KernelEvent& event) override {
    const int64_t done = done_.fetch_add(1) + 1;
    progress_->Report({"kernels", event.request.dispatch->name, done,
                       std::max(done, sites_)});
    if (next_ != nullptr) next_->Observe(event);
  }

 private:
  const std::shared_ptr<ShownProgress> progress_;
  const int64_t sites_;
  const std::shared_ptr<jit::KernelObserver> next_;
  std::atomic<int64_t> done_ = 0;
};

// Loads the JIT, and puts it and its oracle into `tier`. `sites` is the
// module's number of dispatch sites, for the progress.
StatusOr<std::shared_ptr<vm::KernelProvider>> FindProvider(
    const TierOptions& options, bool is_host, size_t sites,
    vm::CompileSettings& settings, Tier& tier) {
  std::shared_ptr<jit::Oracle> oracle;
  if (options.wrapper == nullptr && is_host &&
      ChecksKernels(options.checks, options.tier))
    oracle = NewOracle(options.checks.folder);
  settings.policy.checks_kernels = oracle != nullptr;
  // If there is a wrapper, kernels that are slower than tier 0 are kept,
  // because the measured time includes the wrapper's own time.
  if (settings.in_background)
    settings.policy.keeps_slow_kernels = options.wrapper != nullptr;
  jit::JitOptions made;
  made.threads = settings.threads;
  made.location = settings.location;
  made.dump_folder = options.dump_folder;
  made.schedule_folder = options.schedule_folder;
  made.disabled_passes = {options.disabled_passes.begin(),
                          options.disabled_passes.end()};
  made.exact_schedules = options.rounding.exact_schedules;
  made.allow_tf32 = options.rounding.allow_tf32;
  made.cache = options.cache;
  made.wrapper = options.wrapper;
  made.observer = options.observer;
  if (options.progress != nullptr && !settings.in_background) {
    made.observer = std::make_shared<KernelProgress>(options.progress, sites,
                                                     options.observer);
  }
  made.oracle = oracle;
  EMBER_ASSIGN_OR_RETURN(tier.jit, LoadJit(made));
  tier.oracle = std::move(oracle);
  return std::shared_ptr<vm::KernelProvider>(tier.jit);
}

Status CheckSchedules(const TierOptions& options, const Tier& tier,
                      const vm::Module& module) {
  if (tier.jit == nullptr) return OkStatus();
  std::vector<std::string> names;
  for (const tensor::Dispatch& dispatch : module.definition().dispatches)
    names.push_back(dispatch.name);
  return tier.jit->CheckSchedules(names, options.has_schedules_of_others)
      .WithContext("--schedules");
}

// The native kernels that the flags of the command line allow.
struct Natives {
  vm::NativePermission permission;
  vm::NativeOptions options;
  std::vector<std::string> problems;  // messages about overlays that cannot be
                                      // read
};

StatusOr<Natives> NativesOf(const TierOptions& options,
                            const vm::Module& module) {
  Natives natives;
  if (options.model.empty()) return natives;
  EMBER_ASSIGN_OR_RETURN(natives.permission, PermissionOf(options.native));
  natives.options.device_launcher = vm::LaunchOnDevice;
  if (!options.native.library.empty()) {
    EMBER_ASSIGN_OR_RETURN(const void* const table,
                           LoadTable(options.native.library, module));
    natives.options.tables.push_back(table);
  }
  const std::string path = UserPath(options.model);
  if (natives.permission.kind != vm::NativePermission::kNone) {
    natives.options.overlays = vm::FindOverlays(path, &natives.problems);
  } else {
    const bool in_module = !module.definition().natives.empty();
    const bool in_overlay = !vm::FindOverlayFiles(path).empty();
    if (in_module || in_overlay) {
      std::fprintf(stderr,
                   "the %s native kernels are not used, as they run only with "
                   "--allow-native or --key%s\n",
                   in_module ? "module's" : "overlay's",
                   natives.options.tables.empty()
                       ? ""
                       : "; those of --native-library are used");
    }
  }
  return natives;
}

// Prints notes about native kernels. Kernels for other machines are mentioned
// only if there are none for this machine.
void PrintNatives(const vm::NativeReport& report, const Natives& natives) {
  for (const std::string& line : natives.problems)
    std::fprintf(stderr, "%s\n", line.c_str());
  if (report.kernels > 0) return;
  // If there is a key, the lines that follow give the reason for each refused
  // target: its signature or its machine.
  const bool may_be_key =
      natives.permission.kind == vm::NativePermission::kSigned &&
      !report.refused.empty();
  std::fprintf(
      stderr, "%s\n",
      may_be_key ? "no native kernels are used" : report.Text().c_str());
  for (const std::string& line : report.refused)
    std::fprintf(stderr, "%s\n", line.c_str());
}

}  // namespace

void AddTf32Flag(Flags& flags, bool* value) {
  flags.Add("allow-tf32", value,
            "Kernels of CUDA's devices may multiply f32 by f32 as tf32, on "
            "tensor cores. Factors keep 10\n"
            "bits of their mantissas (each is up to 2^-10 of itself nearer "
            "to zero), and sums stay f32.\n"
            "The flag has no effect on other devices.");
}

void AddRoundingFlags(Flags& flags, RoundingFlags* values) {
  flags.Add("exact-schedules", &values->exact_schedules,
            "Kernels round as the interpreter does, except for the order "
            "of sums. They use no Winograd\n"
            "convolutions, no softmax in blocks, and no matrix "
            "instructions for floats on GPUs.");
  AddTf32Flag(flags, &values->allow_tf32);
}

void AddJitFlag(Flags& flags, std::string* value) {
  flags.AddChoice(
      "jit", value, {"auto", "worker", "thread", "off"},
      "The place where kernels are compiled. worker: a process of "
      "its own, ember-compile-worker,\n"
      "which starts with the first request and serves all processes "
      "of this user. thread: this\n"
      "process. off: nowhere. auto: with --tier=auto the worker if "
      "its program is installed, else a\n"
      "thread.");
}

Status CheckTierOptions(const TierOptions& options) {
  EMBER_RETURN_IF_ERROR(ParseTier(options.tier).status());
  if (!options.schedule_folder.empty() && !HasJit(options)) {
    return CommandLineError(
        "--schedules: expected a --tier and --jit with kernels, found --tier=" +
        options.tier + " --jit=" + options.jit);
  }
  if (!options.disabled_passes.empty() && !HasJit(options)) {
    return CommandLineError(
        "--disable-pass: expected a --tier and --jit with kernels, found "
        "--tier=" +
        options.tier + " --jit=" + options.jit);
  }
  EMBER_RETURN_IF_ERROR(
      CheckDisabledPasses("--disable-pass", options.disabled_passes));
  return PermissionOf(options.native).status();
}

StatusOr<Tier> OpenTier(const TierOptions& options,
                        const std::shared_ptr<hal::Device>& device,
                        const std::shared_ptr<const vm::Module>& module) {
  EMBER_RETURN_IF_ERROR(CheckTierOptions(options));
  EMBER_ASSIGN_OR_RETURN(Natives natives, NativesOf(options, *module));
  EMBER_ASSIGN_OR_RETURN(const vm::KernelTier kind, ParseTier(options.tier));
  Tier tier;
  StatusOr<vm::SessionKernels> kernels = vm::OpenSessionKernels(
      module, {.tier = HasJit(options) ? kind : vm::KernelTier::kInterpreter,
               .location = LocationOf(options.jit),
               .device = device,
               .permission = natives.permission,
               .find_provider =
                   [&](vm::CompileSettings& settings) {
                     return FindProvider(options, device->is_host(),
                                         module->sites().size(), settings,
                                         tier);
                   },
               .natives = std::move(natives.options)});
  if (!kernels.ok())
    return kernels.status().WithContext("--tier=" + options.tier);
  EMBER_RETURN_IF_ERROR(CheckSchedules(options, tier, *module));
  tier.tiering = std::move(kernels->tiering);
  if (!kernels->warning.empty())
    std::fprintf(stderr, "%s\n", kernels->warning.c_str());
  if (!kernels->natives) return tier;
  tier.native = kernels->natives->Text();
  PrintNatives(*kernels->natives, natives);
  return tier;
}

Status CheckSchedulesUsed(const Tier& tier) {
  if (tier.jit == nullptr) return OkStatus();
  const std::string problem = tier.jit->schedule_problem();
  if (problem.empty()) return OkStatus();
  return InvalidArgumentError("--schedules: " + problem);
}

void AddNativeFlags(Flags& flags, NativeFlags* values) {
  flags.Add("allow-native", &values->is_allowed,
            "Runs the machine code that vm-prejit wrote into the module, "
            "if it has some for this\n"
            "processor. Use it only for a module whose maker you trust.");
  flags.Add("key", &values->key, "NAME.public",
            "Does the same, but only for a module that vm-sign signed with "
            "the secret of this key.");
  flags.Add("native-library", &values->library, "FILE.so",
            "Loads a shared object that vm-prejit --emit=shared wrote, and "
            "runs its kernels.");
}

const Tier& KeepTier(Tier tier) {
  kept_tier = new Tier(std::move(tier));
  return *kept_tier;
}

int EndProcess(int exit_status) {
  if (kept_tier == nullptr || kept_tier->jit == nullptr ||
      !kept_tier->jit->is_busy())
    return exit_status;
  std::fflush(nullptr);
  _exit(exit_status);
}

std::string JitText(const Tier& tier, const vm::Module& module) {
  if (tier.tiering == nullptr) return "";
  std::string text = tier.native.empty() ? "" : tier.native + ".\n";
  if (tier.jit == nullptr) return text;
  const jit::JitTotals totals = tier.jit->totals();
  char line[256];
  std::snprintf(line, sizeof line,
                "%lld kernels of %.1f kB in %.0f ms: schedules %.0f, LLVM's "
                "passes %.0f, code generation %.0f, packing %.0f; %lld "
                "declined.\n",
                static_cast<long long>(totals.kernels),
                static_cast<double>(totals.code_bytes) / 1000,
                totals.schedule_ms + totals.optimize_ms + totals.codegen_ms +
                    totals.pack_ms,
                totals.schedule_ms, totals.optimize_ms, totals.codegen_ms,
                totals.pack_ms, static_cast<long long>(totals.declined));
  text += line;
  std::snprintf(
      line, sizeof line,
      "Code of %lld kernels was compiled, of %lld read from the cache, and of "
      "%lld shared with another kernel.\n",
      static_cast<long long>(totals.kernels - totals.loaded - totals.shared),
      static_cast<long long>(totals.loaded),
      static_cast<long long>(totals.shared));
  text += line;
  if (const std::string problem = tier.jit->cache_problem(); !problem.empty())
    text += "Kernel cache: " + problem + ".\n";
  if (tier.oracle != nullptr) text += OracleText(tier.oracle->totals());
  return text + DeclineTable(*tier.tiering, module);
}

}  // namespace ember::tools
