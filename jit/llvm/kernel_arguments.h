// Where the code of a phase finds the nest's parameters and buffers: what the
// kinds of functions that phases become differ in.
//
//   HostArguments arguments(nest, function);       // vm/format/kernel_abi.h
//   MemoryAccess memory(nest, …, arguments, …);
#ifndef EMBER_JIT_LLVM_KERNEL_ARGUMENTS_H_
#define EMBER_JIT_LLVM_KERNEL_ARGUMENTS_H_

#include <cstdint>

#include "jit/llvm/ir.h"
#include "jit/loops/loop_nest.h"
#include "llvm/IR/Function.h"

namespace ember::jit {

class KernelArguments {
 public:
  explicit KernelArguments(const loops::LoopNest& nest) : nest_(nest) {}
  virtual ~KernelArguments() = default;

  // i64. Called once per parameter, with the builder at the function's entry.
  virtual llvm::Value* Parameter(Builder& builder, uint64_t number) = 0;
  // Where the first element of a buffer is that is not local: as Parameter.
  virtual llvm::Value* Buffer(Builder& builder, uint32_t number) = 0;
  // Of a buffer with slices side by side: which of them it is, an i64. Null:
  // the first.
  virtual llvm::Value* Slice(uint32_t) { return nullptr; }

  // Where an element would be if its buffer were row-major: `constant` elements
  // behind `pointer`.
  struct RowMajorPlace {
    llvm::Value* begin = nullptr;  // of the buffer
    llvm::Value* pointer = nullptr;
    int64_t constant = 0;
    // Neither the constant nor any other part of an index is negative, so each
    // part by itself is within its dim.
    bool is_of_parts = false;
    // Lanes of a vector, the first of which is this one.
    int64_t lanes = 1;
  };
  // Whether elements of the buffer lie as they do in memory.
  virtual bool IsRowMajor(uint32_t /*buffer*/) const { return true; }
  // Where the element is, of a buffer that does not lie so.
  virtual llvm::Value* PlaceOf(Builder&, uint32_t /*buffer*/,
                               const RowMajorPlace& at) {
    return at.pointer;
  }

  // Whether who runs the code has the buffer by itself, as an array that is to
  // become registers, where nothing has an address.
  virtual bool IsLocal(uint32_t buffer) const {
    return nest_.buffers[buffer].scope == loops::MemoryScope::kRegister;
  }
  // Whether the first index of a local buffer says whose it is, and counts for
  // nothing.
  virtual bool IgnoresFirstIndex(uint32_t) const { return false; }

 protected:
  const loops::LoopNest& nest_;
};

// Of functions as vm/format/kernel_abi.h has them.
class HostArguments final : public KernelArguments {
 public:
  HostArguments(const loops::LoopNest& nest, llvm::Function& function)
      : KernelArguments(nest), function_(function) {}

  llvm::Value* Parameter(Builder& builder, uint64_t number) override {
    return Load(builder, builder.getInt64Ty(), 0, number,
                nest_.parameters[number]);
  }
  llvm::Value* Buffer(Builder& builder, uint32_t number) override {
    return Load(builder, builder.getPtrTy(), 1, number,
                nest_.buffers[number].name);
  }

 private:
  // Element `number` of an array of 8-byte values that never changes.
  llvm::Value* Load(Builder& builder, llvm::Type* type, unsigned argument,
                    uint64_t number, const std::string& name) {
    auto* load = builder.CreateAlignedLoad(
        type,
        builder.CreateConstInBoundsGEP1_64(type, function_.getArg(argument),
                                           number),
        llvm::Align(type->isPointerTy() ? alignof(void*) : 8), name);
    load->setMetadata(llvm::LLVMContext::MD_invariant_load,
                      llvm::MDNode::get(builder.getContext(), {}));
    return load;
  }

  llvm::Function& function_;
};

}  // namespace ember::jit

#endif  // EMBER_JIT_LLVM_KERNEL_ARGUMENTS_H_
