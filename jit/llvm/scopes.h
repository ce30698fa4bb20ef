// The loops around the place where code is being emitted: what their variables
// are bound to, and where values go that depend on nothing further in.
//
//   depth 0           the function's entry: constants, parameters
//   depth 1           a task
//   depth 2, 3, ...   loops and branches, from the outermost
//
// A scope has a prologue block, which dominates its body and in which values
// are put before the terminator. A node without loads is computed once, in the
// scope of its innermost variable (its place), but within a branch that is
// directly in it: what is skipped should cost nothing. Variables that are
// constants (of unrolled loops, and lanes) do not count, so theirs are scopes
// without a prologue; but the value is known only as long as they are (its
// home).
#ifndef EMBER_JIT_LLVM_SCOPES_H_
#define EMBER_JIT_LLVM_SCOPES_H_

#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "jit/llvm/ir.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit {

using loops::NodeId;

// The place of code that must stay where the statement is.
inline constexpr int kHere = INT_MAX;

// A value and the scope in which it was computed; constants: 0.
struct Placed {
  llvm::Value* value = nullptr;
  int depth = 0;
};

// What Scopes::Once makes of two values.
enum class Made : uint8_t { kAdd, kMultiply, kAdvance, kBound, kExtent };

class Scopes {
 public:
  Scopes(const tensor::ExpressionPool& pool, Builder& builder)
      : pool_(pool), b_(builder) {}

  // The first scope is the entry, without a variable. `lanes` 0: a variable
  // with one value at a time.
  void Enter(llvm::BasicBlock* prologue);
  void Enter(llvm::BasicBlock* prologue, NodeId variable, llvm::Value* value,
             int lanes = 0);
  // A part that may be skipped.
  void EnterBranch(llvm::BasicBlock* prologue);
  void Leave();

  // Lanes of the vector loop that this is in, or 0.
  int lanes() const { return lanes_; }
  llvm::Value* ValueOf(NodeId variable) const;
  bool IsLane(NodeId variable) const { return lanes_ && variable == lane_; }

  bool HasLoad(NodeId id) { return FactsOf(id).has_load; }
  bool DependsOn(NodeId id, NodeId variable);
  // Whether the node differs from lane to lane.
  bool VariesByLane(NodeId id) { return lanes_ != 0 && DependsOn(id, lane_); }
  // The scope in which the value is computed; kHere if it has loads.
  int PlaceOf(NodeId id);

  // The value of a node without loads, if it was computed; and that it was.
  llvm::Value* Known(NodeId id);
  void Remember(NodeId id, llvm::Value* value);
  // The value that make() gives in the scope, made once for the operands.
  template <typename Make>
  llvm::Value* Once(int depth, Made made, llvm::Value* a, llvm::Value* b,
                    Make&& make);

  // While it lives, the builder is in the prologue of a scope.
  class At {
   public:
    At(Scopes& scopes, int depth) : guard_(scopes.b_) {
      if (depth != kHere) scopes.GoTo(depth);
    }

   private:
    Builder::InsertPointGuard guard_;
  };

 private:
  struct Facts {
    bool has_load = false;
    std::vector<NodeId> variables;  // sorted
  };
  struct Scope {
    llvm::BasicBlock* prologue = nullptr;
    NodeId variable = 0;
    bool is_branch = false;
    bool IsLoop() const { return prologue != nullptr && !is_branch; }
    std::unordered_map<NodeId, llvm::Value*> values;
    std::map<std::tuple<Made, llvm::Value*, llvm::Value*>, llvm::Value*> once;
  };
  struct Binding {
    llvm::Value* value = nullptr;
    int depth = 0;
  };

  const Facts& FactsOf(NodeId id);
  const Binding& BindingOf(NodeId variable) const;
  // The scope of the innermost variable.
  int HomeOf(NodeId id);
  void GoTo(int depth);

  const tensor::ExpressionPool& pool_;
  Builder& b_;
  std::vector<Scope> scopes_;
  std::unordered_map<NodeId, Binding> bindings_;
  std::unordered_map<NodeId, Facts> facts_;
  NodeId lane_ = 0;
  int lanes_ = 0;
};

template <typename Make>
llvm::Value* Scopes::Once(int depth, Made made, llvm::Value* a, llvm::Value* b,
                          Make&& make) {
  if (depth == kHere) return make();
  {
    const auto& once = scopes_[depth].once;
    const auto found = once.find({made, a, b});
    if (found != once.end()) return found->second;
  }
  const At at(*this, depth);
  llvm::Value* value = make();
  scopes_[depth].once[{made, a, b}] = value;
  return value;
}

}  // namespace ember::jit

#endif  // EMBER_JIT_LLVM_SCOPES_H_
