// Gives emitted code the buffers and parameters of a nest in a PTX kernel:
// bindings and parameters are arguments of the kernel's function, and buffers
// of the workgroup are at offsets in shared memory.
//
//   const Layout layout = LayOut(nest, phase);
//   PtxArguments arguments(nest, workgroup, layout, function, shared);
//   llvm::Value* begin = arguments.Buffer(builder, buffer);
//
// Not thread-safe: only one thread at a time may use a function.
#ifndef EMBER_JIT_PTX_ARGUMENTS_H_
#define EMBER_JIT_PTX_ARGUMENTS_H_

#include <cstdint>
#include <vector>

#include "jit/gpu/kernel_abi.h"
#include "jit/llvm/emit/ir.h"
#include "jit/llvm/emit/kernel_arguments.h"
#include "jit/loops/copied_box.h"
#include "jit/loops/loop_nest.h"
#include "jit/loops/workgroup.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalVariable.h"

namespace ember::jit::ptx {

// The arguments of the kernel's function, in the order of
// vm/format/device_abi.h, and the offsets of the workgroup's buffers in its
// memory.
struct Layout {
  std::vector<gpu::PhaseCode::Binding> bindings;
  // For each buffer with a binding: the number of its argument.
  std::vector<unsigned> arguments;
  // for each buffer in the workgroup's memory: its offset there, in bytes
  std::vector<int64_t> shared_offsets;
  int64_t shared_bytes = 0;
  unsigned record = 0;
  // Number of the argument with the nest's first parameter. The argument after
  // the parameters is the number of the first task.
  unsigned first_parameter = 0;
  // The boxes that the kernel copies. Their tensor maps are the last arguments.
  std::vector<vm::BoxMap> boxes;
  unsigned first_box = 0;
};

Layout LayOut(const loops::LoopNest& nest, const loops::Phase& phase);

// Returns the number of bytes of the kernel's arguments. Drivers accept at most
// kMaxArgumentBytes.
int64_t ArgumentBytes(const Layout& layout);
inline constexpr int64_t kMaxArgumentBytes = 4096;

// Implements the interface for kernels of GPUs. The constructor's operands must
// outlive the object. shared: the workgroup's memory; null if the phase has
// none.
class PtxArguments final : public llvm_ir::KernelArguments {
 public:
  PtxArguments(const loops::LoopNest& nest, const loops::Workgroup& workgroup,
               const Layout& layout, llvm::Function& function,
               llvm::GlobalVariable* shared)
      : llvm_ir::KernelArguments(nest),
        workgroup_(workgroup),
        layout_(layout),
        function_(function),
        shared_(shared) {}

  llvm::Value* Parameter(llvm_ir::Builder&, uint64_t number) override {
    return function_.getArg(layout_.first_parameter +
                            static_cast<unsigned>(number));
  }
  llvm::Value* Buffer(llvm_ir::Builder& builder, uint32_t number) override {
    if (workgroup_.storage[number].kind == loops::StorageKind::kShared)
      return Shared(builder, layout_.shared_offsets[number]);
    return function_.getArg(layout_.arguments[number]);
  }
  llvm::Value* Slice(uint32_t buffer) override {
    return workgroup_.storage[buffer].kind == loops::StorageKind::kSlices
               ? number_
               : nullptr;
  }
  bool IsLocal(uint32_t buffer) const override {
    const loops::StorageKind kind = workgroup_.storage[buffer].kind;
    return kind == loops::StorageKind::kRegisters ||
           kind == loops::StorageKind::kPrivate;
  }
  bool IgnoresFirstIndex(uint32_t buffer) const override {
    return workgroup_.storage[buffer].of_invocation;
  }

  bool IsRowMajor(uint32_t buffer) const override {
    return !workgroup_.storage[buffer].panels.Any();
  }
  // Emits the address of an element in a buffer that consists of panels
  // (SharedPanels::PositionOf).
  llvm::Value* AddressOf(llvm_ir::Builder& builder, uint32_t buffer,
                         const RowMajorAddress& at) override;

  // Returns the address at this byte offset in the workgroup's memory.
  llvm::Value* Shared(llvm_ir::Builder& builder, int64_t offset) {
    llvm::Value* const begin =
        builder.CreateAddrSpaceCast(shared_, builder.getPtrTy());
    return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), begin,
                                              static_cast<uint64_t>(offset));
  }
  // Returns the address of the tensor map for a box that is copied.
  llvm::Value* Box(const loops::CopiedBox& copy);
  // Sets the number of the workgroup that the emitted code runs as, an i64.
  void set_workgroup(llvm::Value* number) { number_ = number; }

 private:
  const loops::Workgroup& workgroup_;
  const Layout& layout_;
  llvm::Function& function_;
  llvm::GlobalVariable* const shared_;
  llvm::Value* number_ = nullptr;  // number of the running workgroup, an i64
};

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_ARGUMENTS_H_
