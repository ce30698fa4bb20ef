#include "tools/lib/load_jit.h"

#include <dlfcn.h>

#include <cstdio>
#include <filesystem>
#include <mutex>
#include <utility>

#include "jit/compile_queue.h"

namespace ember::tools {
namespace {

using NewJitFunction = bool (*)(const jit::JitOptions* options,
                                std::shared_ptr<jit::Jit>* jit,
                                std::string* error);

// In a folder around this program's file: jit/libember_jit.so as it is built,
// lib/ember/libember_jit.so as it is installed.
std::filesystem::path FindLibrary() {
  std::error_code error;
  std::filesystem::path folder =
      std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  for (; !error && folder.has_relative_path(); folder = folder.parent_path()) {
    for (const char* place : {"jit", "lib/ember"}) {
      const std::filesystem::path library = folder / place / "libember_jit.so";
      if (std::filesystem::exists(library, error)) return library;
    }
  }
  return {};
}

// Loads the JIT when a first kernel is asked for, and not in the thread that
// asks: a process that ends before never has LLVM in memory.
class LazyJit final : public jit::Jit {
 public:
  explicit LazyJit(jit::JitOptions options)
      : options_(WithDefaults(std::move(options))),
        queue_({.threads = options_.threads,
                .niceness = jit::NicenessOf(options_.place)},
               [this](const jit::CompileQueue::Job& job) { Compile(job); }) {}
  ~LazyJit() override { Stop(); }

  void RequestKernel(const vm::KernelRequest& request,
                     std::shared_ptr<vm::KernelSlot> slot) override {
    queue_.Add({request, std::move(slot)});
  }
  void Wait() override { queue_.Wait(); }
  bool is_busy() const override { return queue_.is_busy(); }
  void Stop() override {
    std::lock_guard<std::mutex> lock(mutex_);
    if (IsLoaded()) (*jit_)->Stop();
  }
  jit::JitTotals totals() const override {
    std::lock_guard<std::mutex> lock(mutex_);
    return IsLoaded() ? (*jit_)->totals() : jit::JitTotals{};
  }
  std::string cache_problem() const override {
    std::lock_guard<std::mutex> lock(mutex_);
    return IsLoaded() ? (*jit_)->cache_problem() : "";
  }
  std::shared_ptr<vm::KernelJudge> judge() override { return options_.oracle; }

 private:
  static jit::JitOptions WithDefaults(jit::JitOptions options) {
    if (options.oracle == nullptr)
      options.oracle = std::make_shared<jit::Oracle>(jit::OracleOptions{});
    return options;
  }
  bool IsLoaded() const { return jit_.ok() && *jit_ != nullptr; }
  // Null where there is none, with the reason.
  StatusOr<std::shared_ptr<jit::Jit>> Loaded() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (jit_.ok() && *jit_ == nullptr) {
      jit::JitOptions options = options_;
      options.threads = 0;  // compiles in the queue's thread
      jit_ = LoadJit(options);
    }
    return jit_;
  }
  void Compile(const jit::CompileQueue::Job& job) {
    const StatusOr<std::shared_ptr<jit::Jit>> jit = Loaded();
    if (!jit.ok()) return job.slot->Decline(jit.status().ToString());
    (*jit)->RequestKernel(job.request, job.slot);
  }

  const jit::JitOptions options_;
  mutable std::mutex mutex_;  // guards jit_
  StatusOr<std::shared_ptr<jit::Jit>> jit_ = std::shared_ptr<jit::Jit>();
  jit::CompileQueue queue_;  // last: its threads use what is above
};

}  // namespace

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
  if (const std::string problem = jit->cache_problem(); !problem.empty())
    std::fprintf(stderr, "running without kernel cache: %s\n", problem.c_str());
  return jit;
}

std::shared_ptr<jit::Jit> NewLazyJit(jit::JitOptions options) {
  return std::make_shared<LazyJit>(std::move(options));
}

}  // namespace ember::tools
