// Tracks the scopes (loops and branches) around the current position of the
// emitted code: the values of their variables, and the values that are computed
// in each (jit/loops/analysis/scope_depths.h).
//
// A scope has a prologue, a block that dominates its body. Values are put
// before the prologue's terminator. Scopes of variables that are constants (of
// unrolled loops, and lanes) have none.
#ifndef EMBER_JIT_LLVM_EMIT_SCOPES_H_
#define EMBER_JIT_LLVM_EMIT_SCOPES_H_

#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "jit/llvm/emit/ir.h"
#include "jit/loops/analysis/scope_depths.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::llvm_ir {

using loops::NodeId;

// The depth of nodes with loads: they are computed at the statement that uses
// them.
inline constexpr int kHere = loops::kNoDepth;

// An LLVM value, and the depth of the scope in which it is computed; constants
// have depth 0.
struct ScopedValue {
  llvm::Value* value = nullptr;
  int depth = 0;
};

// The kinds of operations on two values for which Scopes::Once keeps the
// results.
enum class Made : uint8_t { kAdd, kMultiply, kAdvance, kBound, kExtent };

class Scopes {
 public:
  Scopes(const tensor::ExpressionPool& pool, Builder& builder)
      : b_(builder), depths_(pool) {}

  // Enters a scope. The first scope is the function's entry, which has no
  // variable. `lanes`: number of lanes if the variable is that of a vector
  // loop; 0 otherwise.
  void Enter(llvm::BasicBlock* prologue);
  void Enter(llvm::BasicBlock* prologue, NodeId variable, llvm::Value* value,
             int lanes = 0);
  // Enters code in which the variable has a value that is available from the
  // function's entry on and is not constant, such as the number of a GPU's
  // thread.
  void EnterBound(NodeId variable, llvm::Value* value);
  // Enters code that is executed conditionally.
  void EnterBranch(llvm::BasicBlock* prologue);
  void Leave();

  // Returns the number of lanes of the surrounding vector loop; 0 if there is
  // none.
  int lanes() const { return lanes_; }
  llvm::Value* ValueOf(NodeId variable) const;
  bool IsLane(NodeId variable) const { return lanes_ && variable == lane_; }

  bool HasLoad(NodeId id) { return depths_.HasLoad(id); }
  bool DependsOn(NodeId id, NodeId variable) {
    return depths_.DependsOn(id, variable);
  }
  // True if the node's value differs between lanes of the surrounding vector
  // loop.
  bool VariesByLane(NodeId id) { return lanes_ != 0 && DependsOn(id, lane_); }
  // Returns the depth of the scope in which the node's value is to be computed;
  // kHere if the node has loads.
  int DepthOf(NodeId id) { return depths_.DepthOf(id); }

  // Known returns the value of a node without loads if it was computed before
  // in a scope that is still open; otherwise null. Remember records that a node
  // has a value.
  llvm::Value* Known(NodeId id);
  void Remember(NodeId id, llvm::Value* value);
  // Returns make(), evaluated in the scope at this depth. It is evaluated once
  // for each kind, pair of operands and type, and later calls return the same
  // value. `type` matters for addresses, since buffers of several types may
  // share one.
  template <typename Make>
  llvm::Value* Once(int depth, Made made, llvm::Value* a, llvm::Value* b,
                    Make&& make, llvm::Type* type = nullptr);

  // While an object of this class exists, the builder inserts into the prologue
  // of the scope at this depth. For kHere it stays where it is.
  class At {
   public:
    At(Scopes& scopes, int depth) : guard_(scopes.b_) {
      if (depth != kHere) scopes.GoTo(depth);
    }

   private:
    Builder::InsertPointGuard guard_;
  };

 private:
  struct Scope {
    llvm::BasicBlock* prologue = nullptr;
    NodeId variable = 0;
    bool is_branch = false;
    std::unordered_map<NodeId, llvm::Value*> values;
    std::map<std::tuple<Made, llvm::Value*, llvm::Value*, llvm::Type*>,
             llvm::Value*>
        once;
  };
  void GoTo(int depth);

  Builder& b_;
  loops::ScopeDepths depths_;
  std::vector<Scope> scopes_;
  std::unordered_map<NodeId, llvm::Value*> bindings_;
  NodeId lane_ = 0;
  int lanes_ = 0;
};

template <typename Make>
llvm::Value* Scopes::Once(int depth, Made made, llvm::Value* a, llvm::Value* b,
                          Make&& make, llvm::Type* type) {
  if (depth == kHere) return make();
  {
    const auto& once = scopes_[depth].once;
    const auto found = once.find({made, a, b, type});
    if (found != once.end()) return found->second;
  }
  const At at(*this, depth);
  llvm::Value* value = make();
  scopes_[depth].once[{made, a, b, type}] = value;
  return value;
}

}  // namespace ember::jit::llvm_ir

#endif  // EMBER_JIT_LLVM_EMIT_SCOPES_H_
