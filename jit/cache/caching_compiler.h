// A compiler that makes no code twice: equal nests of this process share code,
// and code that a process of this user made before is loaded.
//
//   CachingCompiler compiler(*std::move(object_compiler), std::move(disk));
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<CompiledNest> code,
//                          compiler.Compile(nest, options));
//   code->origin  // kCompiled, kShared or kLoaded
//
// The key of code is the SHA-256 of the nest without names (nest_bytes.h), the
// effort, the target device and the compiler's identity. The identity differs
// between builds of the compiler and of LLVM. The disk has the code of a
// kernel's image (vm/format/kernel_image.h), without names. Only code is
// cached: each process schedules and lowers its nests and proves their bounds
// itself. If several threads ask for the same code at once, one of them makes
// it and the others wait. The code of equal nests is one piece of memory, which
// lives until the last of them is destroyed. Thread-safe.
#ifndef EMBER_JIT_CACHE_CACHING_COMPILER_H_
#define EMBER_JIT_CACHE_CACHING_COMPILER_H_

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>

#include "base/sha256.h"
#include "base/status.h"
#include "jit/backend/object_compiler.h"
#include "jit/cache/disk_cache.h"

namespace ember::jit {

class CachingCompiler final : public Compiler {
 public:
  // Makes a caching compiler. disk: the cache on disk; null for none. `disk`
  // must be null if the compiler has no identity.
  CachingCompiler(std::unique_ptr<ObjectCompiler> compiler,
                  std::unique_ptr<DiskCache> disk);

  // Returns the code of the nest from this process or the disk, or compiles it.
  // Always compiles if the options ask for texts, or if the target is emulated.
  // For shared code optimize_ms and codegen_ms are 0; for loaded code
  // codegen_ms is the time for loading it.
  StatusOr<std::unique_ptr<CompiledNest>> Compile(
      const loops::LoopNest& nest, const CompileOptions& options) override;

  // Stops the object compiler: see ObjectCompiler::Stop.
  void Stop() { compiler_->Stop(); }
  // Returns the cache on disk; null if there is none.
  const DiskCache* disk() const { return disk_.get(); }
  Sha256Digest KeyOf(const loops::LoopNest& nest,
                     const CompileOptions& options) const;

 private:
  struct Entry {
    bool is_busy = false;
    std::weak_ptr<const CompiledNest> code;
  };
  std::shared_ptr<const CompiledNest> FindOrClaim(const Sha256Digest& key);
  void Publish(const Sha256Digest& key,
               const std::shared_ptr<const CompiledNest>& code);
  StatusOr<std::unique_ptr<CompiledNest>> LoadOrCompile(
      const Sha256Digest& key, const loops::LoopNest& nest,
      const CompileOptions& options);
  std::unique_ptr<CompiledNest> Load(const Sha256Digest& key,
                                     const loops::LoopNest& nest);

  const std::unique_ptr<ObjectCompiler> compiler_;
  const std::unique_ptr<DiskCache> disk_;
  std::mutex mutex_;  // This mutex guards the members below it.
  std::condition_variable changed_;
  std::map<Sha256Digest, Entry> entries_;
};

}  // namespace ember::jit

#endif  // EMBER_JIT_CACHE_CACHING_COMPILER_H_
