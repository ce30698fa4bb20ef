#include "jit/late_compiler.h"

#include <utility>

#include "base/concat.h"
#include "jit/cache/disk_cache.h"
#include "jit/llvm/library/llvm_library.h"
#include "jit/worker/client.h"
#include "jit/worker/find_worker.h"

namespace ember::jit {
namespace {

Status NoWorker() {
  return NotFoundError(
      Concat({kWorkerProgram,
              ": expected it beside the JIT's library, found none there"}));
}

// Returns the compiler for the location. is_in_worker: is set to true if the
// compiler is the worker.
StatusOr<std::unique_ptr<ObjectCompiler>> CompilerAt(
    vm::CompileLocation location, std::atomic<bool>& is_in_worker) {
  if (location == vm::CompileLocation::kThread)
    return llvm_ir::LoadLlvmCompiler();
  StatusOr<std::unique_ptr<ObjectCompiler>> worker = NoWorker();
  const std::string program = FindWorkerProgram();
  if (!program.empty()) worker = NewRemoteCompiler({.program = program});
  is_in_worker = worker.ok();
  if (worker.ok() || location == vm::CompileLocation::kWorker) return worker;
  return llvm_ir::LoadLlvmCompiler();
}

}  // namespace

LateCompiler::LateCompiler(
    vm::CompileLocation location, CacheOptions cache,
    std::function<void(const std::string&)> on_cache_problem)
    : location_(location),
      cache_(std::move(cache)),
      on_cache_problem_(std::move(on_cache_problem)) {}

Status LateCompiler::Check() const {
  const bool has_worker =
      location_ != vm::CompileLocation::kThread && !FindWorkerProgram().empty();
  if (has_worker) return OkStatus();
  return location_ == vm::CompileLocation::kWorker
             ? NoWorker()
             : llvm_ir::FindLlvmLibrary().status();
}

void LateCompiler::SetCacheProblem(std::string_view problem) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    cache_problem_ = problem;
  }
  if (on_cache_problem_ != nullptr) on_cache_problem_(std::string(problem));
}

void LateCompiler::OpenCache() {
  const std::lock_guard<std::mutex> making(making_);
  OpenCacheOnce();
}

void LateCompiler::OpenCacheOnce() {
  if (std::exchange(is_cache_open_, true) || cache_.folder.empty()) return;
  auto disk = DiskCache::Open(cache_);
  if (disk.ok())
    disk_ = *std::move(disk);
  else
    SetCacheProblem(disk.status().message());
}

StatusOr<std::unique_ptr<CachingCompiler>> LateCompiler::Make() {
  EMBER_ASSIGN_OR_RETURN(std::unique_ptr<ObjectCompiler> compiler,
                         CompilerAt(location_, is_in_worker_));
  OpenCacheOnce();
  if (disk_ != nullptr && compiler->identity().empty()) {
    disk_ = nullptr;
    SetCacheProblem(
        "the JIT's or LLVM's library was linked without a build id");
  }
  return std::make_unique<CachingCompiler>(std::move(compiler),
                                           std::move(disk_));
}

StatusOr<CachingCompiler*> LateCompiler::Made() {
  const std::lock_guard<std::mutex> making(making_);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (is_stopped_) return CancelledError("no caller waits for this kernel");
    if (!compiler_.ok()) return compiler_.status();
    if (*compiler_ != nullptr) return compiler_->get();
  }
  StatusOr<std::unique_ptr<CachingCompiler>> made = Make();
  const std::lock_guard<std::mutex> lock(mutex_);
  compiler_ = std::move(made);
  if (!compiler_.ok()) return compiler_.status();
  if (is_stopped_) (*compiler_)->Stop();
  return compiler_->get();
}

StatusOr<std::unique_ptr<CompiledNest>> LateCompiler::Compile(
    const loops::LoopNest& nest, const CompileOptions& options) {
  EMBER_ASSIGN_OR_RETURN(CachingCompiler* const compiler, Made());
  return compiler->Compile(nest, options);
}

void LateCompiler::Stop() {
  const std::lock_guard<std::mutex> lock(mutex_);
  is_stopped_ = true;
  if (compiler_.ok() && *compiler_ != nullptr) (*compiler_)->Stop();
}

std::string LateCompiler::cache_problem() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const bool has_disk = compiler_.ok() && *compiler_ != nullptr &&
                        (*compiler_)->disk() != nullptr;
  return has_disk ? (*compiler_)->disk()->problem() : cache_problem_;
}

}  // namespace ember::jit
