// Keeps on disk what a JIT finds out about the constants of a mapped module, so
// that later processes map packed constants instead of packing them, and need
// not read the constants themselves.
//
//   model.vmfb                    the module, mapped
//   model.vmfb.packed/ranges      the ranges of values of its i8 constants
//   model.vmfb.packed/3f2a….packed    what one prologue packs
//
//   KeptConstants kept;
//   const std::string path = kept.PathOf(request, nest);   // "": none is kept
//   std::optional<PackedBuffers> packed = KeptConstants::Load(path);
//   if (!packed) packed = KeptConstants::Keep(path, contents);
//
// Something is kept only if the folder model.vmfb.packed exists: vm-generate's
// cache of modules (tools/lib/models/module_cache.h) makes it. The folder must
// be one that other users cannot write to (base/private_folder.h). The name of
// a file of packed constants is a hash of the identity of the module's file
// (inode, size, time of change), the offsets of the constants, the text of the
// prologue, and the build of the JIT. Contents that were written before the
// system started are verified by a hash when they are loaded; then they are
// trusted until the next start. A problem with a file or the folder is no
// error: constants are packed as without a folder.
//
// Several processes may use one folder. Thread-safe.
#ifndef EMBER_JIT_KERNEL_KEPT_CONSTANTS_H_
#define EMBER_JIT_KERNEL_KEPT_CONSTANTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "base/mapped_pages.h"
#include "jit/kernel/packed_store.h"
#include "jit/loops/loop_nest.h"
#include "tensor/interval.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::jit {

class KeptConstants {
 public:
  // Returns the path of the file that keeps the constants packed by the nest's
  // prologue. Empty if nothing is kept: there is no folder, the constants are
  // not those of one mapped file, or the nest has no prologue.
  std::string PathOf(const vm::KernelRequest& request,
                     const loops::LoopNest& nest);

  // Returns the mapped contents of the file; nullopt if it does not exist or is
  // damaged. Damaged files are removed.
  static std::optional<PackedBuffers> Load(const std::string& path);
  // Writes the file and returns its mapped contents. Returns nullopt if the
  // path is empty, if the contents have less than 64 KiB or more than 256
  // buffers, or if the file cannot be written.
  static std::optional<PackedBuffers> Keep(
      const std::string& path,
      std::span<const std::span<const uint8_t>> contents);

  // Returns the range of the values of input number `input` of the request, an
  // i8 constant. A range that is kept in the folder is not computed; any other
  // is computed at most once per process.
  tensor::Interval RangeOf(const vm::KernelRequest& request, size_t input);

 private:
  // The file of a mapped module, and the folder where its packed constants are
  // kept. If the folder's path is empty, nothing is kept.
  struct Module {
    // A weak reference to the module's mapping. It expires when the module is
    // no longer mapped, and this entry is then stale.
    std::weak_ptr<const void> owner;
    FileMapping mapping;
    std::string folder;
    std::string identity;  // identity of the file
    // ranges of the values of constants, by offset and size of the constant in
    // the file
    std::map<std::pair<uint64_t, size_t>, tensor::Interval> ranges;
  };

  // Returns the module whose mapped file contains the data; null if there is
  // none. mutex_ must be held.
  Module* ModuleOf(const vm::KernelRequest& request,
                   std::span<const uint8_t> data);
  static void ReadRanges(Module& module);

  std::mutex mutex_;  // guards modules_
  // The mapped modules, by the address of the owner of requests.
  std::map<const void*, Module> modules_;
};

}  // namespace ember::jit

#endif  // EMBER_JIT_KERNEL_KEPT_CONSTANTS_H_
