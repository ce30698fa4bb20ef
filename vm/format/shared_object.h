// Writes a native library as an ELF shared object, for a dynamic linker to map:
// what a linker would make of it, without one, as there is next to nothing to
// link. One symbol, no relocations, nothing that it needs.
//
//   EMBER_RETURN_IF_ERROR(WriteSharedObject(
//       library, {.machine = ElfMachine::kAarch64, .symbol = "ember_kernels",
//                 .name = "libmodel.so"}, "out/libmodel.so"));
//
// Code is mapped executable and cannot be written, all else cannot be executed.
// Segments lie so that systems with pages of up to 64 KiB (16 KiB on x86-64 and
// ARMv7) can map them, and what Android's dynamic linker looks at is there
// (section headers, DT_HASH). Thread-safe.
//
// Source: System V ABI, generic ABI and the processor supplements.
#ifndef EMBER_VM_FORMAT_SHARED_OBJECT_H_
#define EMBER_VM_FORMAT_SHARED_OBJECT_H_

#include <cstdint>
#include <string>

#include "base/status.h"
#include "vm/format/native_library.h"

namespace ember::vm {

enum class ElfMachine : uint8_t { kX86_64, kAarch64, kArm };

struct SharedObjectOptions {
  ElfMachine machine = ElfMachine::kX86_64;
  std::string symbol;  // of the table
  std::string name;    // DT_SONAME; empty: none
};

// Errors: the file cannot be written; InvalidArgument for one that the
// processor's addresses have no room for.
Status WriteSharedObject(const NativeLibrary& library,
                         const SharedObjectOptions& options,
                         const std::string& path);

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_SHARED_OBJECT_H_
