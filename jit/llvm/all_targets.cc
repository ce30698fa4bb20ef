#include "jit/llvm/all_targets.h"

#include "llvm/Support/TargetSelect.h"

namespace ember::jit::llvm_ir {

void UseAllTargets() {
  static const bool initialized = [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
    return true;
  }();
  static_cast<void>(initialized);
}

}  // namespace ember::jit::llvm_ir
