// Defines the entry point of libember_llvm.so, the library that llvm_library.h
// loads when a program first needs LLVM.
#include <memory>
#include <string>
#include <utility>

#include "jit/llvm/library/full_compiler.h"

// The library's only visible symbol. Its name is kNewLlvmCompilerSymbol, which
// LoadLlvmCompiler looks up.
extern "C" __attribute__((visibility("default"))) bool EmberNewLlvmCompiler(
    std::unique_ptr<ember::jit::ObjectCompiler>* compiler, std::string* error) {
  auto created = ember::jit::llvm_ir::NewFullCompiler();
  if (!created.ok()) {
    *error = created.status().message();
    return false;
  }
  *compiler = *std::move(created);
  return true;
}
