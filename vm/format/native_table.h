// Kernels that are linked into a program, or in a shared library that it
// loads, as vm-prejit --emit=static and --emit=shared write them: what the one
// symbol of such a file is, and what is behind it.
//
//   extern "C" const EmberNativeKernels ember_kernels_model;   // model.o
//   EMBER_ASSIGN_OR_RETURN(std::vector<NativeTableEntry> entries,
//                          ReadNativeTable(&ember_kernels_model));
//
// In memory the symbol is at a NativeTableHeader, which NativeTableRows follow.
// Places are distances from the field that holds them, so that a file needs no
// relocations when it is loaded: code is in the program's executable section,
// all else in its read-only data. Fields are little-endian; a distance of 64
// bits holds only 32 that count where pointers have 32.
//
// A table that a C compiler made (vm-prejit --emit=c) is of version 2, as C
// cannot write distances: its PointerTableRows hold pointers of the program,
// and functions in the place of code.
//
// The table is in the caller's own program, so its bytes are trusted to lie
// where they say; what they are is checked as that of sections is. Thread-safe.
#ifndef EMBER_VM_FORMAT_NATIVE_TABLE_H_
#define EMBER_VM_FORMAT_NATIVE_TABLE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "vm/format/kernel_abi.h"
#include "vm/format/module_identity.h"
#include "vm/format/native_section.h"

namespace ember::vm {

inline constexpr uint8_t kNativeTableMagic[8] = {'E', 'M', 'B', 'R',
                                                 'K', 'R', 'N', 'L'};
// Raised when fields change their meaning; new ones are appended, and the
// sizes tell.
inline constexpr uint32_t kNativeTableVersion = 1;
inline constexpr uint32_t kPointerTableVersion = 2;

struct NativeTableHeader {
  uint8_t magic[8] = {};
  uint32_t version = 0;
  uint32_t header_size = 0;  // of this struct; the rows begin behind it
  uint32_t row_size = 0;
  uint32_t row_count = 0;
  ModuleIdentity module = {};
};
static_assert(sizeof(NativeTableHeader) == 56, "it is part of the file format");

// One target.
struct NativeTableRow {
  int64_t target = 0;  // its text
  uint64_t target_size = 0;
  int64_t head = 0;  // the parts of vm/format/native_section.h
  uint64_t head_size = 0;
  int64_t code = 0;
  uint64_t code_size = 0;
  int64_t weights = 0;
  uint64_t weights_size = 0;
  // Of head and code: HashBytes(code, HashBytes(head)).
  uint64_t hash = 0;
};
static_assert(sizeof(NativeTableRow) == 72, "it is part of the file format");

// A function of kernels whose code is text (KernelFormat::kCSource), by the
// name that their phases have for it.
struct NativeFunction {
  const char* name = nullptr;
  PhaseFunction function = nullptr;
};

// One target, of version 2. As the program's compiler lays it out.
struct PointerTableRow {
  const char* target = nullptr;  // ends with a 0
  const uint8_t* head = nullptr;
  const uint8_t* weights = nullptr;
  const NativeFunction* functions = nullptr;
  uint64_t head_size = 0;
  uint64_t weights_size = 0;
  uint64_t function_count = 0;
  uint64_t hash = 0;  // as of NativeTableRow, without code
};

uint64_t HashOfParts(const NativeParts& parts);

struct NativeTableEntry {
  std::string target;
  uint64_t hash = 0;
  NativeParts parts;
  // Of a table of version 2; there is no code then, and the program that the
  // table is in was compiled for the machine that it runs on.
  std::span<const NativeFunction> functions;
};

struct NativeTable {
  ModuleIdentity module = {};
  std::vector<NativeTableEntry> entries;
};

// symbol: what the file gives away. Errors: InvalidArgument for what is no
// table, Unimplemented for one of another version.
StatusOr<NativeTable> ReadNativeTable(const void* symbol);

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_NATIVE_TABLE_H_
