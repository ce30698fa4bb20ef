// Loads and stores of a nest's buffers, one element or all lanes at once.
//
//   const Address address = memory.AddressOf(buffer, indices);
//   llvm::Value* old = memory.Load(address, mask, nullptr);
//   memory.Store(address, value, mask);
//
// Masks are lanes x i1 and have a true lane, or null: all lanes. Lanes that are
// off touch no memory. Values are in registers (jit/llvm/ir.h).
#ifndef EMBER_JIT_LLVM_MEMORY_ACCESS_H_
#define EMBER_JIT_LLVM_MEMORY_ACCESS_H_

#include <algorithm>
#include <map>
#include <span>
#include <vector>

#include "jit/llvm/ir.h"
#include "jit/llvm/kernel_arguments.h"
#include "jit/llvm/linear_index.h"
#include "jit/llvm/scopes.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit {

// Where the lanes' elements are, in elements from `pointer`.
struct Address {
  enum class Kind : uint8_t {
    kUniform,     // one element for all lanes
    kContiguous,  // element `lane`
    kReversed,    // element -lane
    kStrided,     // element stride * lane
    kIrregular    // element offsets[lane]
  };
  Kind kind = Kind::kUniform;
  uint32_t buffer = 0;
  llvm::Value* pointer = nullptr;
  llvm::Value* stride = nullptr;   // i64
  llvm::Value* offsets = nullptr;  // lanes x i64
  // No two lanes have the same element.
  bool is_distinct = false;
  // `pointer` is so many elements behind `row`, which addresses of one row have
  // in common.
  llvm::Value* row = nullptr;
  int64_t behind_row = 0;
  // kStrided: where it is known, the element's number in its row.
  int64_t column = -1;
  // Lanes that are off have elements in the buffer, too.
  bool is_whole = false;
  // A power of two that divides the first lane's address; 1 where nothing is
  // known but that it is an element's. Looked for on GPUs, where several
  // elements are loaded at once only if it says so.
  uint64_t alignment = 1;
};

class MemoryAccess {
 public:
  // `function` is a phase. Packed buffers do not change in it if `is_prologue`
  // is false.
  MemoryAccess(const loops::LoopNest& nest, bool is_prologue,
               KernelArguments& arguments, TargetTraits target,
               llvm::Function& function, Scopes& scopes, Builder& builder,
               IndexLinearizer& linearizer);

  Address AddressOf(uint32_t buffer, std::span<const NodeId> indices);

  // All lanes of an address that is not uniform, else one element. Lanes that
  // are off have the value of `off` (null: anything).
  llvm::Value* Load(const Address& address, llvm::Value* mask,
                    llvm::Value* off);
  // Of several lanes that store to one element the last stays.
  void Store(const Address& address, llvm::Value* value, llvm::Value* mask);
  // The element, or the lanes of an address that is contiguous, where
  // `in_bounds` (i1) holds, else `off`. It is the address that is chosen, so
  // that the load takes no mask.
  llvm::Value* LoadIf(const Address& address, llvm::Value* in_bounds,
                      llvm::Value* off);
  // What is at the address and behind it, as another type.
  llvm::Value* LoadAs(const Address& address, llvm::Type* type);
  // The element of one lane of an irregular or strided address.
  Address LaneAddress(const Address& address, llvm::Value* lane);

  // Wishes for element number `element` (i64) of a buffer in memory.
  void Prefetch(uint32_t buffer, llvm::Value* element);

  llvm::Value* Parameter(uint64_t number);

  // Whether the buffer is to be in registers, where nothing has an address.
  bool IsRegister(uint32_t buffer) const { return arguments_.IsLocal(buffer); }

 private:
  llvm::Value* PointerOf(uint32_t buffer);
  // The first index that counts.
  size_t FirstDim(uint32_t buffer) const {
    return arguments_.IgnoresFirstIndex(buffer) ? 1 : 0;
  }
  llvm::Value* LoadBehindBranch(const Address& address, llvm::Value* in_bounds,
                                llvm::Value* off);
  Factor StrideOf(uint32_t buffer, size_t dim);
  int64_t RegisterExtent(uint32_t number, size_t dim) const;
  // Whether the dim has an element for each lane, on or off.
  bool HasAllLanes(uint32_t buffer, size_t dim, const LinearIndex& index) const;
  void CreateAliasScopes();
  // What is known about the memory that the instruction touches.
  llvm::Instruction* Mark(llvm::Instruction* instruction, uint32_t buffer,
                          bool is_load);
  // As one of memory that never changes.
  void MarkConstant(llvm::Instruction& load);
  // The same on CPUs, of buffers that are larger than what is prefetched.
  void MarkLargeConstant(llvm::Instruction& load, uint32_t number);
  llvm::Value* Advance(llvm::Value* pointer, uint32_t buffer, Placed elements,
                       int depth);
  // One pointer per lane.
  llvm::Value* LanePointers(const Address& address);
  llvm::Value* LoadMemory(const Address& address, llvm::Type* type,
                          llvm::Value* mask, llvm::Value* off);
  llvm::Value* LoadRuns(const Address& address, llvm::Type* type);
  llvm::Value* LoadColumnOf(const Address& address, llvm::Type* type);
  llvm::Value* LoadVector(const Address& address, llvm::Type* type,
                          llvm::Value* mask, llvm::Value* off);
  void StoreVector(const Address& address, llvm::Value* value,
                   llvm::Value* mask);
  llvm::Value* Reverse(llvm::Value* value);
  // Of lanes the other way round, as neighbours.
  Address FirstOf(const Address& reversed);
  llvm::Value* LastLane(llvm::Value* value, llvm::Value* mask);
  // Memory with nothing but the value in it.
  llvm::GlobalVariable* FullOf(llvm::Constant* value);
  llvm::Type* ElementOf(uint32_t buffer) {
    return MemoryType(b_.getContext(), nest_.buffers[buffer].type);
  }
  llvm::Align AlignmentOf(uint32_t buffer) const;
  llvm::Align AlignmentOf(const Address& address) const {
    return std::max(AlignmentOf(address.buffer),
                    llvm::Align(address.alignment));
  }
  // Of the first lane's address, by its parts.
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
  std::vector<llvm::MDNode*> alias_scopes_;  // null: none of its own
  std::vector<llvm::MDNode*> no_alias_;
  std::map<llvm::Constant*, llvm::GlobalVariable*> full_;
};

}  // namespace ember::jit

#endif  // EMBER_JIT_LLVM_MEMORY_ACCESS_H_
