#include "jit/cache/caching_compiler.h"

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/target_text.h"
#include "jit/cache/nest_bytes.h"
#include "vm/format/kernel_image_bytes.h"

namespace ember::jit {
namespace {

// The code of a nest as one of its owners holds it; `code` is the memory that
// all owners share.
struct SharedNest : CompiledNest {
  std::shared_ptr<const CompiledNest> code;
};

// Returns the code for its first owner, which compiled or loaded it, with the
// times that this took.
std::unique_ptr<CompiledNest> OwnerOf(
    const std::shared_ptr<const CompiledNest>& code) {
  auto owner = std::make_unique<SharedNest>();
  static_cast<CompiledNest&>(*owner) = *code;
  owner->code = code;
  return owner;
}

std::unique_ptr<CompiledNest> AnotherOwnerOf(
    const std::shared_ptr<const CompiledNest>& code) {
  std::unique_ptr<CompiledNest> owner = OwnerOf(code);
  owner->origin = CodeOrigin::kShared;
  owner->optimize_ms = owner->codegen_ms = 0;
  return owner;
}

}  // namespace

CachingCompiler::CachingCompiler(std::unique_ptr<ObjectCompiler> compiler,
                                 std::unique_ptr<DiskCache> disk)
    : compiler_(std::move(compiler)), disk_(std::move(disk)) {
  EMBER_CHECK(disk_ == nullptr || !compiler_->identity().empty());
}

Sha256Digest CachingCompiler::KeyOf(const loops::LoopNest& nest,
                                    const CompileOptions& options) const {
  // The key is the hash of these bytes. Identity and target end with a zero and
  // the effort has one byte, so that different inputs never give the same
  // bytes.
  constexpr std::string_view kEnd("\0", 1);
  const char effort = static_cast<char>(options.effort);
  return Sha256({compiler_->identity(), kEnd, options.target, kEnd,
                 std::string_view(&effort, 1), NestBytes(nest)});
}

StatusOr<std::unique_ptr<CompiledNest>> CachingCompiler::Compile(
    const loops::LoopNest& nest, const CompileOptions& options) {
  // Code is compiled each time instead of cached if its texts or passes are
  // asked for, which the cache does not hold, or if it is for the emulated
  // grid, which makes it valid in this process only.
  if (options.keep_llvm || options.keep_assembly || options.keep_passes ||
      TargetText(options.target).Has("emulated"))
    return compiler_->Compile(nest, options);
  const Sha256Digest key = KeyOf(nest, options);
  if (auto code = FindOrClaim(key)) return AnotherOwnerOf(code);
  auto made = LoadOrCompile(key, nest, options);
  if (!made.ok()) {
    Publish(key, nullptr);
    return made.status();
  }
  const std::shared_ptr<const CompiledNest> code = *std::move(made);
  Publish(key, code);
  return OwnerOf(code);
}

// Returns the code that this process has for the key. If another thread is
// making it, waits for that thread. If the result is null, the caller has
// claimed the key: it must make the code and call Publish.
std::shared_ptr<const CompiledNest> CachingCompiler::FindOrClaim(
    const Sha256Digest& key) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    const auto found = entries_.find(key);
    if (found == entries_.end()) break;
    if (auto code = found->second.code.lock()) return code;
    if (!found->second.is_busy) break;
    changed_.wait(lock);
  }
  entries_[key].is_busy = true;
  return nullptr;
}

// Ends the claim of a key and gives its code to all threads that wait for it.
// code: null if the code could not be made.
void CachingCompiler::Publish(const Sha256Digest& key,
                              const std::shared_ptr<const CompiledNest>& code) {
  {
    const std::scoped_lock lock(mutex_);
    entries_[key] = {.is_busy = false, .code = code};
    std::erase_if(entries_, [](const auto& entry) {
      return !entry.second.is_busy && entry.second.code.expired();
    });
  }
  changed_.notify_all();
}

StatusOr<std::unique_ptr<CompiledNest>> CachingCompiler::LoadOrCompile(
    const Sha256Digest& key, const loops::LoopNest& nest,
    const CompileOptions& options) {
  if (disk_ == nullptr) return compiler_->Compile(nest, options);
  if (auto code = Load(key, nest)) return code;
  CompiledNest figures;
  EMBER_ASSIGN_OR_RETURN(const vm::KernelCode made,
                         compiler_->CompileToCode(nest, options, &figures));
  // The code is loaded before it is stored on disk, so that an error of loading
  // keeps it out of the cache.
  EMBER_ASSIGN_OR_RETURN(std::unique_ptr<CompiledNest> code,
                         LoadCode(made, nest.prologue.size()));
  code->optimize_ms = figures.optimize_ms;
  code->codegen_ms = figures.codegen_ms;
  code->code_bytes = figures.code_bytes;
  vm::ByteWriter writer;
  writer.Number(figures.code_bytes);
  vm::WriteKernelCode(made, writer);
  disk_->Store(key, std::move(writer).Take());
  return code;
}

// Returns the code from the cache on disk; null if the cache has none for the
// key.
std::unique_ptr<CompiledNest> CachingCompiler::Load(
    const Sha256Digest& key, const loops::LoopNest& nest) {
  const auto start = std::chrono::steady_clock::now();
  std::optional<std::string> bytes = disk_->Load(key);
  if (!bytes) return nullptr;
  const auto entry = std::make_shared<const std::string>(*std::move(bytes));
  vm::ByteReader reader(std::span(
      reinterpret_cast<const uint8_t*>(entry->data()), entry->size()));
  const auto code_bytes = reader.Number<int64_t>();
  // For a CPU, LoadCode copies the code from the entry to executable memory. A
  // device's code stays in the entry, which `made` keeps alive.
  const auto made = vm::ReadKernelCode(
      reader, entry, nest.prologue.size() + nest.phases.size());
  if (!made.ok()) return nullptr;
  auto code = LoadCode(*made, nest.prologue.size());
  if (!code.ok()) return nullptr;
  (*code)->code_bytes = code_bytes;
  (*code)->origin = CodeOrigin::kLoaded;
  const std::chrono::duration<double, std::milli> took =
      std::chrono::steady_clock::now() - start;
  (*code)->codegen_ms = took.count();
  return *std::move(code);
}

}  // namespace ember::jit
