// Interface through which the code of a phase gets the nest's parameters and
// buffers. The kinds of functions that phases become differ in this.
//
//   HostArguments arguments(nest, function);       // vm/format/kernel_abi.h
//   MemoryAccess memory(nest, …, arguments, …);
#ifndef EMBER_JIT_LLVM_EMIT_KERNEL_ARGUMENTS_H_
#define EMBER_JIT_LLVM_EMIT_KERNEL_ARGUMENTS_H_

#include <cstdint>

#include "jit/llvm/emit/ir.h"
#include "jit/loops/loop_nest.h"
#include "llvm/IR/Function.h"

namespace ember::jit::llvm_ir {

class KernelArguments {
 public:
  explicit KernelArguments(const loops::LoopNest& nest) : nest_(nest) {}
  virtual ~KernelArguments() = default;

  // Returns the value of the nest's parameter `number`, an i64. Called once per
  // parameter, with the builder at the function's entry.
  virtual llvm::Value* Parameter(Builder& builder, uint64_t number) = 0;
  // Returns the address of the first element of buffer `number`, which is not
  // local. Called once per buffer, with the builder at the function's entry.
  virtual llvm::Value* Buffer(Builder& builder, uint32_t number) = 0;
  // Returns the number of the slice that the code is to use, an i64, of a
  // buffer that has slices side by side. Null: the first slice.
  virtual llvm::Value* Slice(uint32_t) { return nullptr; }

  // The address that an element would have if its buffer were row-major:
  // `constant` elements after `pointer`.
  struct RowMajorAddress {
    llvm::Value* begin = nullptr;  // address of the buffer's begin
    llvm::Value* pointer = nullptr;
    int64_t constant = 0;
    // True if neither the constant nor any other part of an index is negative,
    // so that each part by itself is within its dim.
    bool is_of_parts = false;
    // Number of lanes of the vector that begins at this address.
    int64_t lanes = 1;
  };
  // True if the buffer's elements are in row-major order.
  virtual bool IsRowMajor(uint32_t /*buffer*/) const { return true; }
  // Returns the address of an element in a buffer with another order.
  virtual llvm::Value* AddressOf(Builder&, uint32_t /*buffer*/,
                                 const RowMajorAddress& at) {
    return at.pointer;
  }

  // True if each executor of the code has the buffer for itself, as an array
  // that is to become registers, where nothing has an address.
  virtual bool IsLocal(uint32_t buffer) const {
    return nest_.buffers[buffer].scope == loops::MemoryScope::kRegister;
  }
  // True if the first index of a local buffer is the number of the executor
  // that owns the array, so that the array has no dim for it.
  virtual bool IgnoresFirstIndex(uint32_t) const { return false; }

 protected:
  const loops::LoopNest& nest_;
};

// Implements the interface for functions in the form of vm/format/kernel_abi.h.
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
  // Loads element `number` of an array of 8-byte values that never change.
  // argument: the number of the function's argument that is the array.
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

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_EMIT_KERNEL_ARGUMENTS_H_
