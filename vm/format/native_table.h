// The table of kernels that are linked into a program or come from a shared
// library, as vm-prejit --emit=static, --emit=shared and --emit=c write them.
// The only symbol of such a file points to it.
//
//   extern "C" const EmberKernels ember_kernels_model;   // model.o
//   EMBER_ASSIGN_OR_RETURN(NativeTable table,
//                          ReadNativeTable(&ember_kernels_model));
//
// In memory the symbol is at a NativeTableHeader, which NativeTableRows follow.
// Addresses are stored as distances from the field that holds them, so a file
// needs no relocations when it is loaded. Code is in the program's executable
// section, all other bytes are in its read-only data. Fields are little-endian.
// If pointers have 32 bits, only the lower 32 bits of a 64-bit distance are
// used.
//
// A table made by a C compiler (vm-prejit --emit=c) has version 2, because C
// cannot express distances. Its PointerTableRows hold pointers of the program,
// and functions instead of code.
//
// Because the table is in the caller's own program, its addresses are trusted.
// The contents at these addresses are checked like those of native sections.
// Thread-safe.
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
// Version of the table. It is increased if fields change their meaning. New
// fields are only appended; the sizes that the table stores show which fields
// exist.
inline constexpr uint32_t kNativeTableVersion = 1;
inline constexpr uint32_t kPointerTableVersion = 2;

struct NativeTableHeader {
  uint8_t magic[8] = {};
  uint32_t version = 0;
  uint32_t header_size = 0;  // size of this struct in bytes; the rows follow it
  uint32_t row_size = 0;
  uint32_t row_count = 0;
  ModuleIdentity module = {};
};
static_assert(sizeof(NativeTableHeader) == 56, "it is part of the file format");

// A row of the table: the kernels for one target.
struct NativeTableRow {
  int64_t target = 0;  // distance from this field to the target's text
  uint64_t target_size = 0;
  // distance from this field to the head of the native section; code and
  // weights have such distances, too (vm/format/native_section.h)
  int64_t head = 0;
  uint64_t head_size = 0;
  int64_t code = 0;
  uint64_t code_size = 0;
  int64_t weights = 0;
  uint64_t weights_size = 0;
  // Hash of head and code, which is HashBytes(code, HashBytes(head)).
  uint64_t hash = 0;
};
static_assert(sizeof(NativeTableRow) == 72, "it is part of the file format");

// A function that the C compiler made from kernels whose code is text
// (KernelFormat::kCSource), and the name by which the kernels' phases refer to
// it.
struct NativeFunction {
  const char* name = nullptr;
  PhaseFunction function = nullptr;
};

// A row of a table of version 2: the kernels for one target. The program's C
// compiler determines the layout.
struct PointerTableRow {
  const char* target = nullptr;  // text of the target, terminated by a zero
                                 // byte
  const uint8_t* head = nullptr;
  const uint8_t* weights = nullptr;
  const NativeFunction* functions = nullptr;
  uint64_t head_size = 0;
  uint64_t weights_size = 0;
  uint64_t function_count = 0;
  uint64_t hash = 0;  // hash of the head alone, because the code is not in the
                      // table
};

uint64_t HashOfParts(const NativeParts& parts);

struct NativeTableEntry {
  std::string target;
  uint64_t hash = 0;
  NativeParts parts;
  // Functions of the kernels, in a table of version 2, which has functions in
  // place of code. They were compiled with the program, for the machine on
  // which it runs.
  std::span<const NativeFunction> functions;
};

struct NativeTable {
  ModuleIdentity module = {};
  std::vector<NativeTableEntry> entries;
};

// Reads the table at the address of a symbol that a file of kernels exports.
// Errors: InvalidArgument for bytes that are no table, Unimplemented for
// another version.
StatusOr<NativeTable> ReadNativeTable(const void* symbol);

}  // namespace ember::vm

#endif  // EMBER_VM_FORMAT_NATIVE_TABLE_H_
