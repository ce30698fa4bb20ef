#include "tools/lib/tier.h"

#include <dlfcn.h>

#include <cstdio>
#include <filesystem>
#include <set>
#include <utility>

namespace ember::tools {
namespace {

using NewJitFunction = bool (*)(const jit::JitOptions* options,
                                std::shared_ptr<jit::Jit>* jit,
                                std::string* error);

// jit/libember_jit.so in a folder around this program's file.
std::filesystem::path FindLibrary() {
  std::error_code error;
  std::filesystem::path folder =
      std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (; !error && folder.has_relative_path(); folder = folder.parent_path()) {
    const std::filesystem::path library = folder / "jit" / "libember_jit.so";
    if (std::filesystem::exists(library, error)) return library;
  }
  return {};
}

StatusOr<std::shared_ptr<jit::Jit>> LoadJit(const jit::JitOptions& options) {
  const std::filesystem::path path = FindLibrary();
  if (path.empty())
    return NotFoundError("jit/libember_jit.so is not beside this program");
  // Stays loaded: kernels live in it.
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return NotFoundError(dlerror());
  const auto make =
      reinterpret_cast<NewJitFunction>(dlsym(library, "EmberNewJit"));
  if (make == nullptr) return NotFoundError(dlerror());
  std::shared_ptr<jit::Jit> jit;
  std::string error;
  if (!make(&options, &jit, &error)) return UnimplementedError(error);
  return jit;
}

void ReportCacheProblem(const jit::Jit& jit) {
  if (const std::string problem = jit.cache_problem(); !problem.empty())
    std::fprintf(stderr, "running without kernel cache: %s\n", problem.c_str());
}

}  // namespace

Status CheckTier(const std::string& name) {
  if (name == "0" || name == "1" || name == "2" || name == "auto")
    return OkStatus();
  return InvalidArgumentError("--tier: expected 0, 1, 2 or auto, found '" +
                              name + "'");
}

StatusOr<Tier> OpenTier(const std::string& name,
                        std::shared_ptr<const vm::Module> module,
                        const std::string& dump_folder,
                        const std::string& schedule_folder,
                        const jit::CacheOptions& cache) {
  EMBER_RETURN_IF_ERROR(CheckTier(name));
  Tier tier;
  if (name == "0" || name == "auto") return tier;
  jit::JitOptions options;
  options.dump_folder = dump_folder;
  options.schedule_folder = schedule_folder;
  options.cache = cache;
  // At once, before a dispatch runs first.
  options.threads = 0;
  vm::Tiering::Options thresholds;
  thresholds.max_tier = name == "1" ? 1 : 2;
  thresholds.tier1_calls = 0;
  thresholds.tier2_calls = 0;
  StatusOr<std::shared_ptr<jit::Jit>> jit = LoadJit(options);
  if (!jit.ok()) return jit.status().WithContext("--tier=" + name);
  tier.jit = *std::move(jit);
  ReportCacheProblem(*tier.jit);
  tier.tiering =
      std::make_shared<vm::Tiering>(std::move(module), tier.jit, thresholds);
  return tier;
}

std::string JitText(const Tier& tier, const vm::Module& module) {
  if (tier.tiering == nullptr) return "";
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
  std::string text = line;
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
  std::set<std::string> seen;
  for (const vm::DispatchSite& site : module.sites()) {
    const std::string& name =
        module.definition().dispatches[site.dispatch].name;
    for (const std::string& reason :
         tier.tiering->slot(site.group)->decline_reasons()) {
      const std::string declined = name + ": " + reason + "\n";
      if (seen.insert(declined).second) text += declined;
    }
  }
  return text;
}

}  // namespace ember::tools
