#include "tools/lib/tier.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include "jit/decline_reasons.h"
#include "tools/lib/load_jit.h"
#include "tools/lib/paths.h"
#include "tools/lib/public_key.h"
#include "vm/runtime/device_kernel.h"
#include "vm/runtime/native_kernels.h"
#include "vm/runtime/overlays.h"

namespace ember::tools {
namespace {

Tier* kept_tier = nullptr;  // the tier of the process; never deleted

// Returns "name (1.25x)" with the ratio of the kernel's time to tier 0's.
std::string NameAndRatio(const std::string& name, const vm::SlowKernel& slow) {
  char ratio[32];
  std::snprintf(
      ratio, sizeof ratio, " (%.2fx)",
      static_cast<double>(slow.kernel_ns) /
          static_cast<double>(std::max<int64_t>(slow.interpreter_ns, 1)));
  return name + ratio;
}

// Returns a line "reason: dispatch, dispatch, …" for each reason.
std::string DeclineTable(const vm::Tiering& tiering, const vm::Module& module) {
  constexpr size_t kMaxNames = 12;
  const std::string slower(
      jit::Decline(jit::DeclineReason::kSlower, "").message());
  // dispatches of each reason
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

// Returns the table of kernels of a shared object. The object stays loaded.
StatusOr<const void*> LoadTable(const std::string& file,
                                const vm::Module& module) {
  // A path with a slash keeps dlopen from searching the system's folders.
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
        ": expected a symbol ember_kernels, found none");
  }
  EMBER_RETURN_IF_ERROR(vm::CheckNativeTable(module, table)
                            .WithContext("--native-library: " + file));
  return table;
}

// Returns the place where kernels are compiled. is_beside: kernels are compiled
// while calls run.
vm::CompilePlace PlaceOf(const std::string& jit, bool is_beside) {
  if (jit == "worker") return vm::CompilePlace::kWorker;
  return jit == "auto" && is_beside ? vm::CompilePlace::kWorkerIfThere
                                    : vm::CompilePlace::kThread;
}

}  // namespace

void AddTf32Flag(Flags& flags, bool* value) {
  flags.Add("allow-tf32", value,
            "Kernels of CUDA's devices may multiply f32 by f32 as tf32, on "
            "tensor cores: factors lose\nall but 10 bits of their mantissas "
            "(each is up to 2^-10 of itself nearer to zero), sums stay\nf32. "
            "On other devices it changes nothing.");
}

void AddRoundingFlags(Flags& flags, RoundingFlags* values) {
  flags.Add("exact-schedules", &values->exact_schedules,
            "Kernels round as the interpreter does, but for the order of sums: "
            "no convolution by\nWinograd's method, no softmax in blocks; on "
            "GPUs no matrices of floats.");
  AddTf32Flag(flags, &values->allow_tf32);
}

void AddJitFlag(Flags& flags, std::string* value) {
  flags.AddChoice(
      "jit", value, {"auto", "worker", "thread", "off"},
      "Where kernels are compiled. worker: in a process of its own, "
      "ember-compile-worker, which is\nstarted when a first kernel is wanted "
      "and serves all processes of this user; thread: in\nthis process; off: "
      "nowhere; auto: with --tier=auto in the worker if it is there, else in "
      "a\nthread.");
}

Status CheckTier(const std::string& name) {
  if (name == "0" || name == "1" || name == "2" || name == "auto")
    return OkStatus();
  return InvalidArgumentError("--tier: expected 0, 1, 2 or auto, found '" +
                              name + "'");
}

StatusOr<Tier> OpenTier(
    const std::string& name, const hal::Device& device,
    std::shared_ptr<const vm::Module> module, const std::string& dump_folder,
    const std::string& schedule_folder, const jit::CacheOptions& cache,
    std::shared_ptr<jit::KernelWrapper> wrapper, const RoundingFlags& rounding,
    const KernelCheckFlags& checks, const std::string& jit) {
  EMBER_RETURN_IF_ERROR(CheckTier(name));
  Tier tier;
  if (name == "0" || jit == "off") return tier;
  jit::JitOptions options;
  options.place = PlaceOf(jit, name == "auto");
  options.dump_folder = dump_folder;
  options.schedule_folder = schedule_folder;
  options.exact_schedules = rounding.exact_schedules;
  options.allow_tf32 = rounding.allow_tf32;
  options.cache = cache;
  options.wrapper = std::move(wrapper);
  if (options.wrapper == nullptr && device.is_host() &&
      ChecksKernels(checks, name)) {
    tier.oracle = NewOracle(checks.folder);
    options.oracle = tier.oracle;
  }
  if (name == "auto" && device.is_host()) {
    vm::Tiering::Options policy;
    // If there is a wrapper, slow kernels stay in use: the wrapper's own time
    // makes a kernel look slow.
    policy.keeps_slow_kernels = options.wrapper != nullptr;
    policy.checks_kernels = tier.oracle != nullptr;
    // Largest number of compiling threads. Several compile only on machines
    // with so many cores that sessions rarely use all of them.
    constexpr unsigned kMaxThreads = 4;
    options.threads = static_cast<int>(
        std::clamp(std::thread::hardware_concurrency() / 4, 1u, kMaxThreads));
    StatusOr<std::shared_ptr<jit::Jit>> loaded = LoadJit(std::move(options));
    if (!loaded.ok()) {
      std::fprintf(stderr, "tier 0 only: %s\n",
                   std::string(loaded.status().message()).c_str());
      return Tier();
    }
    tier.jit = *std::move(loaded);
    tier.tiering =
        std::make_shared<vm::Tiering>(std::move(module), tier.jit, policy);
    return tier;
  }
  options.threads = 0;
  StatusOr<std::shared_ptr<jit::Jit>> loaded = LoadJit(std::move(options));
  if (!loaded.ok()) return loaded.status().WithContext("--tier=" + name);
  tier.jit = *std::move(loaded);
  vm::Tiering::Options policy = vm::Tiering::Eager(name == "1" ? 1 : 2);
  policy.checks_kernels = tier.oracle != nullptr;
  tier.tiering =
      std::make_shared<vm::Tiering>(std::move(module), tier.jit, policy);
  return tier;
}

void AddNativeFlags(Flags& flags, NativeFlags* values) {
  flags.Add("allow-native", &values->is_allowed,
            "Runs the machine code that vm-prejit wrote into the module, where "
            "there is some for this\nprocessor: only for a module whose maker "
            "you trust.");
  flags.Add("key", &values->key, "NAME.public",
            "The same for a module that vm-sign signed with the secret of this "
            "key, and no other.");
  flags.Add("native-library", &values->library, "FILE.so",
            "Loads a shared object that vm-prejit --emit=shared wrote, and "
            "runs its kernels.");
}

Status UseNativeKernels(const NativeFlags& flags,
                        const std::shared_ptr<hal::Device>& device,
                        const std::shared_ptr<const vm::Module>& module,
                        const std::string& path, Tier& tier) {
  Ed25519Key key;
  const bool has_key = !flags.key.empty();
  if (has_key && flags.is_allowed) {
    return InvalidArgumentError(
        "--key: expected no --allow-native beside it, which would let code run "
        "that nobody signed");
  }
  if (has_key) {
    EMBER_ASSIGN_OR_RETURN(key, ReadPublicKey(flags.key));
  }
  vm::NativeOptions options;
  if (!flags.library.empty()) {
    EMBER_ASSIGN_OR_RETURN(const void* const table,
                           LoadTable(flags.library, *module));
    options.tables.push_back(table);
  }
  if (!device->is_host()) {
    options.device = device;
    options.device_launcher = vm::LaunchOnDevice;
    options.tables.clear();
  }
  options.uses_module = flags.is_allowed || has_key;
  std::vector<std::string> problems;
  if (options.uses_module) {
    options.key = flags.is_allowed ? nullptr : &key;
    options.overlays = vm::FindOverlays(UserPath(path), &problems);
  } else if (!module->definition().natives.empty() ||
             !vm::FindOverlayFiles(UserPath(path)).empty()) {
    std::fprintf(stderr,
                 "the module's native kernels are not used, as they run only "
                 "with --allow-native or --key\n");
  }
  if (!options.uses_module && options.tables.empty()) return OkStatus();
  if (tier.tiering == nullptr) {
    tier.tiering = std::make_shared<vm::Tiering>(
        module, nullptr,
        device->is_host() ? vm::Tiering::Options{} : vm::Tiering::Eager(2));
  }
  const vm::NativeReport report =
      vm::InstallNativeKernels(*tier.tiering, options);
  tier.native = report.Text();
  for (const std::string& line : problems)
    std::fprintf(stderr, "%s\n", line.c_str());
  // Refused sections are only reported if no kernel can be used.
  if (report.kernels > 0) return OkStatus();
  std::fprintf(stderr, "%s\n", tier.native.c_str());
  for (const std::string& line : report.refused)
    std::fprintf(stderr, "%s\n", line.c_str());
  return OkStatus();
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
      "Code of %lld kernels was compiled, of %lld read from the "
      "cache, of %lld that of another.\n",
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
