// Emits loads and stores of a nest's buffers, one element or all lanes at once.
//
//   const Address address = memory.AddressOf(buffer, indices);
//   llvm::Value* old = memory.Load(address, mask, nullptr);
//   memory.Store(address, value, mask);
//
// A mask is a vector of lanes x i1 with at least one true lane, or null, which
// means all lanes. Lanes that are masked off touch no memory. Values are in
// registers (jit/llvm/emit/ir.h).
#ifndef EMBER_JIT_LLVM_EMIT_MEMORY_ACCESS_H_
#define EMBER_JIT_LLVM_EMIT_MEMORY_ACCESS_H_

#include <algorithm>
#include <map>
#include <span>
#include <vector>

#include "jit/llvm/emit/ir.h"
#include "jit/llvm/emit/kernel_arguments.h"
#include "jit/llvm/emit/linear_index.h"
#include "jit/llvm/emit/scopes.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::llvm_ir {

// The addresses of one element for each lane, given as distances in elements
// from `pointer`.
struct Address {
  enum class Kind : uint8_t {
    kUniform,     // all lanes access the element at `pointer`
    kContiguous,  // lane i accesses the element at pointer + i
    kReversed,    // lane i accesses the element at pointer - i
    kStrided,     // lane i accesses the one at pointer + i * stride
    kIrregular    // lane i accesses the one at pointer + offsets[i]
  };
  Kind kind = Kind::kUniform;
  uint32_t buffer = 0;
  llvm::Value* pointer = nullptr;
  llvm::Value* stride = nullptr;  // kStrided: the stride in elements, an i64
  // kIrregular: the offset of each lane in elements, lanes x i64
  llvm::Value* offsets = nullptr;
  // True if no two lanes access the same element.
  bool is_distinct = false;
  // `pointer` is `behind_row` elements after `row`, the start of the element's
  // row. Elements of one row have the same `row`, so code for it is shared.
  llvm::Value* row = nullptr;
  int64_t behind_row = 0;
  // kStrided: the last index of the element, if it is a constant; otherwise -1.
  int64_t column = -1;
  // True if the elements of lanes that are masked off are in the buffer, too,
  // so that reading them is harmless.
  bool is_whole = false;
  // A power of two that divides the first lane's address in bytes; 1 if only
  // the alignment of single elements is known. It is only computed for GPUs,
  // whose vector loads need it.
  uint64_t alignment = 1;
};

class MemoryAccess {
 public:
  // Makes an emitter of accesses in `function`, the function of a phase.
  // is_prologue: true if the phase may write packed buffers; otherwise their
  // loads are marked as constant.
  MemoryAccess(const loops::LoopNest& nest, bool is_prologue,
               KernelArguments& arguments, TargetTraits target,
               llvm::Function& function, Scopes& scopes, Builder& builder,
               IndexLinearizer& linearizer);

  Address AddressOf(uint32_t buffer, std::span<const NodeId> indices);

  // Loads one element if the address is uniform; otherwise one element for each
  // lane. Lanes that are masked off have the value of `off` (null: undefined).
  llvm::Value* Load(const Address& address, llvm::Value* mask,
                    llvm::Value* off);
  // Stores the value. If several lanes store to one element, the last lane
  // wins.
  void Store(const Address& address, llvm::Value* value, llvm::Value* mask);
  // Loads the element, or the lanes of a contiguous address, if `in_bounds`
  // (i1) holds; otherwise returns `off`. On CPUs the load always happens, from
  // a selected address: the element's, or that of constant memory.
  llvm::Value* LoadIf(const Address& address, llvm::Value* in_bounds,
                      llvm::Value* off);
  // Loads a value of the given type from the bytes that begin at the address.
  llvm::Value* LoadAs(const Address& address, llvm::Type* type);
  // Returns the address of the element of one lane, for an irregular or strided
  // address.
  Address LaneAddress(const Address& address, llvm::Value* lane);

  // Emits a prefetch of element number `element` (i64) of a buffer that is in
  // memory.
  void Prefetch(uint32_t buffer, llvm::Value* element);

  llvm::Value* Parameter(uint64_t number);

  // True if LLVM is to keep the buffer in registers, where elements have no
  // addresses.
  bool IsRegister(uint32_t buffer) const { return arguments_.IsLocal(buffer); }

 private:
  llvm::Value* PointerOf(uint32_t buffer);
  // Returns 1 if the buffer's array has no dim for the first index
  // (IgnoresFirstIndex); otherwise 0.
  size_t FirstDim(uint32_t buffer) const {
    return arguments_.IgnoresFirstIndex(buffer) ? 1 : 0;
  }
  llvm::Value* LoadBehindBranch(const Address& address, llvm::Value* in_bounds,
                                llvm::Value* off);
  Factor StrideOf(uint32_t buffer, size_t dim);
  int64_t RegisterExtent(uint32_t number, size_t dim) const;
  // True if the index is provably in bounds in all lanes, even those that are
  // masked off.
  bool HasAllLanes(uint32_t buffer, size_t dim, const LinearIndex& index) const;
  void CreateAliasScopes();
  // Adds metadata to a load or store of a buffer in memory: its alias scopes
  // and, for a load outside of the prologue, a mark on GPUs if the memory never
  // changes, and on CPUs if it is a large packed constant. Returns the
  // instruction.
  llvm::Instruction* Mark(llvm::Instruction* instruction, uint32_t buffer,
                          bool is_load);
  // Marks the load as one of memory that never changes, so that LLVM may move
  // it across stores.
  void MarkConstant(llvm::Instruction& load);
  // On CPUs, marks a load of a packed constant that is larger than the prefetch
  // distance, so that it is prefetched.
  void MarkLargeConstant(llvm::Instruction& load, uint32_t number);
  llvm::Value* Advance(llvm::Value* pointer, uint32_t buffer,
                       ScopedValue elements, int depth);
  // Returns a vector with a pointer for each lane.
  llvm::Value* LanePointers(const Address& address);
  llvm::Value* LoadMemory(const Address& address, llvm::Type* type,
                          llvm::Value* mask, llvm::Value* off);
  llvm::Value* LoadRuns(const Address& address, llvm::Type* type);
  llvm::Value* LoadColumnOf(const Address& address, llvm::Type* type);
  llvm::Value* LoadVector(const Address& address, llvm::Type* type,
                          llvm::Value* mask, llvm::Value* off);
  void StoreVector(const Address& address, llvm::Value* value,
                   llvm::Value* mask);
  // Returns the constant distance in elements between lanes if it is a narrow
  // stride (IsNarrowStride); otherwise, on GPUs and for registers, nullopt.
  std::optional<int64_t> NarrowStride(const Address& address) const;
  llvm::Value* LoadNarrow(const Address& address, llvm::Type* type,
                          llvm::Value* mask, llvm::Value* off);
  bool StoreNarrow(const Address& address, llvm::Value* value,
                   llvm::Value* mask);
  llvm::Value* Reverse(llvm::Value* value);
  // Returns the address moved by so many elements.
  Address Behind(const Address& address, int64_t elements);
  llvm::Value* LastLane(llvm::Value* value, llvm::Value* mask);
  // Returns a constant array all of whose elements have the value, which loads
  // out of bounds read instead.
  llvm::GlobalVariable* FullOf(llvm::Constant* value);
  llvm::Type* ElementOf(uint32_t buffer) {
    return MemoryType(b_.getContext(), nest_.buffers[buffer].type);
  }
  llvm::Align AlignmentOf(uint32_t buffer) const;
  llvm::Align AlignmentOf(const Address& address) const {
    return std::max(AlignmentOf(address.buffer),
                    llvm::Align(address.alignment));
  }
  // Returns the alignment in bytes of the first lane's address, computed from
  // the terms of its offset.
  uint64_t FindAlignment(uint32_t buffer, const LinearIndex& offset);

  const loops::LoopNest& nest_;
  bool is_prologue_;
  KernelArguments& arguments_;
  const TargetTraits target_;
  llvm::Function& function_;
  Scopes& scopes_;
  Builder& b_;
  IndexLinearizer& linearizer_;
  std::vector<llvm::Value*> pointers_;
  std::vector<llvm::Value*> parameters_;
  std::vector<std::vector<Factor>> strides_;
  // alias scope of each buffer; null: the buffer has none
  std::vector<llvm::MDNode*> alias_scopes_;
  std::vector<llvm::MDNode*> no_alias_;
  std::map<llvm::Constant*, llvm::GlobalVariable*> full_;
};

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_EMIT_MEMORY_ACCESS_H_
