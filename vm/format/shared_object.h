// Writes a native library as an ELF shared object that a dynamic linker can
// map. No linker is needed, because there is almost nothing to link: one
// symbol, no relocations, no needed libraries.
//
//   EMBER_RETURN_IF_ERROR(WriteSharedObject(
//       library, {.machine = ElfMachine::kAarch64, .symbol = "ember_kernels",
//                 .name = "libmodel.so"}, "out/libmodel.so"));
//
// Code is mapped executable and not writable; all other bytes are not
// executable. The layout of segments lets systems with pages of up to 64 KiB
// (16 KiB on x86-64 and ARMv7) map them. The file has what Android's dynamic
// linker requires (section headers, DT_HASH). Thread-safe.
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
  std::string symbol;  // name of the symbol that refers to the table
  std::string name;    // the library's name for the dynamic linker (DT_SONAME);
                       // empty: it has none
};

// Writes the library to a file. Errors: those of writing the file;
// InvalidArgument for a library that is too large for the processor's
// addresses.
Status WriteSharedObject(const NativeLibrary& library,
                         const SharedObjectOptions& options,
                         const std::string& path);

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_SHARED_OBJECT_H_
