// Object files to code in this process's memory, through ORC and JITLink, whose
// memory is writable first and executable then, never both.
//
//   EMBER_ASSIGN_OR_RETURN(std::shared_ptr<Linker> linker, Linker::Create());
//   EMBER_ASSIGN_OR_RETURN(std::unique_ptr<LinkedCode> code,
//                          Linker::Link(linker, std::move(object), {"phase0"}));
//   code->addresses[0]
//
// Thread-safe. Code lives as long as its LinkedCode, which keeps the linker
// alive.
#ifndef EMBER_JIT_LLVM_LINKER_H_
#define EMBER_JIT_LLVM_LINKER_H_

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "llvm/Support/MemoryBuffer.h"

namespace ember::jit {

struct LinkedCode {
  virtual ~LinkedCode() = default;
  std::vector<void*> addresses;  // of the symbols
};

class Linker {
 public:
  static StatusOr<std::shared_ptr<Linker>> Create();
  virtual ~Linker() = default;

  // kInternal if the object needs symbols of others, or lacks one of `symbols`.
  static StatusOr<std::unique_ptr<LinkedCode>> Link(
      std::shared_ptr<Linker> linker,
      std::unique_ptr<llvm::MemoryBuffer> object,
      std::span<const std::string> symbols);
};

}  // namespace ember::jit

#endif  // EMBER_JIT_LLVM_LINKER_H_
