// The loops around the place where code is being emitted: what their variables
// are bound to, and where values go that depend on nothing further in.
//
//   depth 0           the function's entry: constants, parameters
//   depth 1           a task
//   depth 2, 3, ...   loops, from the outermost
//
// A loop has a prologue block, which dominates its body and in which values are
// put before the terminator. A node without loads is computed once in the scope
// of its innermost variable (its home). Where the variables are constants (of
// unrolled loops, and lanes) it is computed further out still (its place), so
// these have no prologue.
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

class Scopes {
 public:
  Scopes(const tensor::ExpressionPool& pool, Builder& builder)
      : pool_(pool), b_(builder) {}

  // The first scope is the entry, without a variable. `lanes` 0: a variable
  // with one value at a time.
  void Enter(llvm::BasicBlock* prologue);
  void Enter(llvm::BasicBlock* prologue, NodeId variable, llvm::Value* value,
             int lanes = 0);
  void Leave();

  // Lanes of the vector loop that this is in, or 0.
  int lanes() const { return lanes_; }
  llvm::Value* ValueOf(NodeId variable) const;
  bool IsLane(NodeId variable) const { return lanes_ && variable == lane_; }

  bool HasLoad(NodeId id) { return FactsOf(id).has_load; }
  // Whether the node differs from lane to lane.
  bool VariesByLane(NodeId id);
  // The scopes in which the value is known, and in which it is computed.
  int HomeOf(NodeId id);
  int PlaceOf(NodeId id);

  // The value of a node without loads in its home, if it was computed there.
  llvm::Value*& Memo(NodeId id) { return scopes_[HomeOf(id)].values[id]; }
  // The value that make() gives in the scope, made once for the operands.
  template <typename Make>
  llvm::Value* Once(int depth, int kind, llvm::Value* a, llvm::Value* b,
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
    std::unordered_map<NodeId, llvm::Value*> values;
    std::map<std::tuple<int, llvm::Value*, llvm::Value*>, llvm::Value*> once;
  };
  struct Binding {
    llvm::Value* value = nullptr;
    int depth = 0;
  };

  const Facts& FactsOf(NodeId id);
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
llvm::Value* Scopes::Once(int depth, int kind, llvm::Value* a, llvm::Value* b,
                          Make&& make) {
  if (depth == kHere) return make();
  {
    const auto& once = scopes_[depth].once;
    const auto found = once.find({kind, a, b});
    if (found != once.end()) return found->second;
  }
  const At at(*this, depth);
  llvm::Value* value = make();
  scopes_[depth].once[{kind, a, b}] = value;
  return value;
}

}  // namespace ember::jit

#endif  // EMBER_JIT_LLVM_SCOPES_H_
