// The JIT's compiler, which is made when a first kernel needs it. Until then
// neither the compile worker nor LLVM's library is started or loaded, and the
// thread that waits for it is one that compiles.
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
  // on_cache_problem, which may be null: called at most once, from a thread
  // that compiles, with the reason why kernels are not kept on disk as `cache`
  // asks for.
  LateCompiler(vm::CompileLocation location, CacheOptions cache,
               std::function<void(const std::string&)> on_cache_problem);

  // Checks if a compiler is available, as far as that is known without making
  // it. Returns NotFound with what is missing.
  Status Check() const;

  // Opens the cache on disk now, so that its problems are known before the
  // first kernel.
  void OpenCache();

  // Compiles the nest with the compiler, which is made if this is the first
  // call. Errors include the reason why the compiler cannot be made, each time;
  // kCancelled after Stop.
  StatusOr<std::unique_ptr<CompiledNest>> Compile(
      const loops::LoopNest& nest, const CompileOptions& options) override;

  // True if the compiler has been made and LLVM runs in the compile worker.
  bool is_in_worker() const { return is_in_worker_; }
  // Declines current and later requests. Does not wait for them to end.
  void Stop();
  // Returns the reason why not all kernels are kept on disk; empty if there is
  // no problem.
  std::string cache_problem() const;

 private:
  StatusOr<CachingCompiler*> Made();
  StatusOr<std::unique_ptr<CachingCompiler>> Make();
  // Opens the cache on disk if it is not open. making_ must be held.
  void OpenCacheOnce();
  void SetCacheProblem(std::string_view problem);

  const vm::CompileLocation location_;
  const CacheOptions cache_;
  const std::function<void(const std::string&)> on_cache_problem_;
  // This mutex is held while the compiler is made, and guards disk_. It must be
  // locked before mutex_.
  std::mutex making_;
  bool is_cache_open_ = false;
  std::atomic<bool> is_in_worker_ = false;
  // The cache on disk. Null after the compiler is made, because the compiler
  // then owns the cache.
  std::unique_ptr<DiskCache> disk_;
  mutable std::mutex mutex_;  // This mutex guards the members below it.
  // The compiler; null until it is made. It never changes after that.
  StatusOr<std::unique_ptr<CachingCompiler>> compiler_ =
      std::unique_ptr<CachingCompiler>();
  std::string cache_problem_;  // the reason why there is no cache on disk
  bool is_stopped_ = false;
};

}  // namespace ember::jit

#endif  // EMBER_JIT_LATE_COMPILER_H_
