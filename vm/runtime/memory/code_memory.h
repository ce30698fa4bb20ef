// Loads machine code into this process without a linker. Codes are copied to
// writable memory, which then becomes executable and read-only. The memory is
// never writable and executable at the same time.
//
//   EMBER_ASSIGN_OR_RETURN(std::shared_ptr<const CodeMemory> memory,
//                          CodeMemory::Load(codes));
//   std::vector<PhaseFunction> phases = memory->Functions(*codes[0], 0);
//
// Thread-safe. The functions are valid as long as the CodeMemory exists.
#ifndef EMBER_VM_RUNTIME_MEMORY_CODE_MEMORY_H_
#define EMBER_VM_RUNTIME_MEMORY_CODE_MEMORY_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "vm/format/kernel_abi.h"
#include "vm/format/kernel_image.h"

namespace ember::vm {

class CodeMemory {
 public:
  // Copies verified codes of format kMachineCode for this processor to
  // executable memory. Returns kResourceExhausted if there is no memory, and
  // kFailedPrecondition if the system does not allow a program to make memory
  // executable.
  static StatusOr<std::shared_ptr<const CodeMemory>> Load(
      std::span<const KernelCode* const> codes);
  ~CodeMemory();
  CodeMemory(const CodeMemory&) = delete;
  CodeMemory& operator=(const CodeMemory&) = delete;

  // Returns the functions of the phases of the code with the number i.
  std::vector<PhaseFunction> Functions(const KernelCode& code, size_t i) const;

 private:
  CodeMemory() = default;

  uint8_t* base_ = nullptr;
  size_t size_ = 0;
  std::vector<size_t> offsets_;
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_MEMORY_CODE_MEMORY_H_
