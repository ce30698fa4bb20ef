// The JIT's compiler, which is made when a first kernel needs it. Until then
// the compile worker is not started and LLVM's library is not loaded. The
// thread that waits for that is one that compiles, never one that runs a model.
//
//   LateCompiler compiler(vm::CompileLocation::kWorkerIfThere,
//                         DefaultCacheOptions(), [](const std::string& problem) {
//     std::fprintf(stderr, "%s\n", problem.c_str());
//   });
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<CompiledNest> code,
//                          compiler.Compile(nest, options));
//
// Thread-safe.
#ifndef EMBER_JIT_LATE_COMPILER_H_
#define EMBER_JIT_LATE_COMPILER_H_

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/status.h"
#include "jit/backend/object_compiler.h"
#include "jit/cache/caching_compiler.h"
#include "jit/cache/disk_cache.h"
#include "jit/cache/options.h"
#include "vm/runtime/kernel_library.h"

namespace ember::jit {

class LateCompiler final : public Compiler {
 public:
  // on_cache_problem: called at most once, from a thread that compiles, with
  // the reason why kernels cannot be cached on disk as `cache` asks for. May be
  // null.
  LateCompiler(vm::CompileLocation location, CacheOptions cache,
               std::function<void(const std::string&)> on_cache_problem);

  // Checks if a compiler is likely to be available, without starting or loading
  // it. Returns NotFound with what is missing.
  Status Check() const;

  // Opens the cache on disk now, so that its problems are known before the
  // first kernel.
  void OpenCache();

  // Compiles the nest. The first call makes the compiler. Errors: those of the
  // compiler; the reason why the compiler cannot be made, which each call then
  // returns; kCancelled after Stop.
  StatusOr<std::unique_ptr<CompiledNest>> Compile(
      const loops::LoopNest& nest, const CompileOptions& options) override;

  // True if the compiler has been made and LLVM runs in the compile worker.
  bool is_in_worker() const { return is_in_worker_; }
  // Declines current and later calls of Compile. Returns at once, before those
  // calls have ended.
  void Stop();
  // Returns the reason why not all kernels are kept on disk; empty if there is
  // no problem.
  std::string cache_problem() const;

 private:
  StatusOr<CachingCompiler*> Made();
  StatusOr<std::unique_ptr<CachingCompiler>> Make();
  // Opens the cache on disk unless this was done before. making_ must be held.
  void OpenCacheOnce();
  void SetCacheProblem(std::string_view problem);

  const vm::CompileLocation location_;
  const CacheOptions cache_;
  const std::function<void(const std::string&)> on_cache_problem_;
  // Held while the compiler is made. Guards disk_ and is_cache_open_. It must
  // be locked before mutex_.
  std::mutex making_;
  bool is_cache_open_ = false;
  std::atomic<bool> is_in_worker_ = false;
  // The cache on disk, until the compiler is made and takes ownership of it;
  // then null.
  std::unique_ptr<DiskCache> disk_;
  mutable std::mutex mutex_;  // This mutex guards the members below it.
  // The compiler, an error, or null until it is made. It does not change after
  // that.
  StatusOr<std::unique_ptr<CachingCompiler>> compiler_ =
      std::unique_ptr<CachingCompiler>();
  std::string cache_problem_;  // the reason why there is no cache on disk
  bool is_stopped_ = false;
};

}  // namespace ember::jit

#endif  // EMBER_JIT_LATE_COMPILER_H_
