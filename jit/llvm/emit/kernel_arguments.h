// Interface through which the emitted code of a phase gets the nest's
// parameters and buffers. Functions for CPUs and GPU kernels receive them in
// different ways.
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
  // Returns the address of the first element of buffer `number`, for which
  // IsLocal is false. Called once per buffer, with the builder at the
  // function's entry.
  virtual llvm::Value* Buffer(Builder& builder, uint32_t number) = 0;
  // Returns the number (i64) of the slice that the code uses, if the buffer's
  // memory consists of slices, one for each workgroup. Null: the buffer has no
  // slices.
  virtual llvm::Value* Slice(uint32_t) { return nullptr; }

  // The address of an element under the assumption that its buffer is
  // row-major: `constant` elements after `pointer`. AddressOf converts it if
  // the buffer has another order.
  struct RowMajorAddress {
    llvm::Value* begin = nullptr;  // address of the first element of the buffer
    llvm::Value* pointer = nullptr;
    int64_t constant = 0;
    // True if neither `constant` nor any other summand of the offset is
    // negative, so that no summand moves the address to an earlier row.
    bool is_of_parts = false;
    // Number of lanes of the access, which begins at this address.
    int64_t lanes = 1;
  };
  // True if the elements of the buffer lie in row-major order in memory.
  virtual bool IsRowMajor(uint32_t /*buffer*/) const { return true; }
  // Returns the address of an element in a buffer for which IsRowMajor is
  // false.
  virtual llvm::Value* AddressOf(Builder&, uint32_t /*buffer*/,
                                 const RowMajorAddress& at) {
    return at.pointer;
  }

  // True if each thread that executes the code has its own copy of the buffer,
  // as an array that LLVM is to keep in registers, where elements have no
  // addresses.
  virtual bool IsLocal(uint32_t buffer) const {
    return nest_.buffers[buffer].scope == loops::MemoryScope::kRegister;
  }
  // True if the first index of a local buffer is the number of the thread that
  // owns the array. The array then has no dim for that index.
  virtual bool IgnoresFirstIndex(uint32_t) const { return false; }

 protected:
  const loops::LoopNest& nest_;
};

// Implements the interface for functions that are called through
// vm/format/kernel_abi.h: kernels for CPUs.
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
  // Loads entry `number` of an array of 8-byte values that never change during
  // the call. `argument`: the number of the function's argument that points to
  // the array.
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
