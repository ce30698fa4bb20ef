// Where values belong while a back end writes the code of a nest: which of the
// loops and branches around a statement a value depends on, and how far out it
// can be computed.
//
//   depth 0           the function's entry: constants, parameters
//   depth 1           a task
//   depth 2, 3, ...   loops and branches, from the outermost
//
// A node without loads is computed once, in the scope of its innermost variable
// (its place), but within a branch that is directly in it: what is skipped
// should cost nothing. Variables whose values are there further out (constants,
// as those of unrolled loops; the number of an invocation) count as far out as
// those are; but a node's value is known only as long as all of its variables
// are (its home).
//
// Not thread-safe.
#ifndef EMBER_JIT_LOOPS_PLACEMENT_H_
#define EMBER_JIT_LOOPS_PLACEMENT_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "jit/loops/loop_nest.h"

namespace ember::loops {

// The place of nodes with loads, which must stay where the statement is.
inline constexpr int kNoPlace = INT32_MAX;

class Placement {
 public:
  explicit Placement(const tensor::ExpressionPool& pool) : pool_(pool) {}

  // The first scope is the entry.
  void EnterEntry() { scopes_.push_back({}); }
  // The body of a loop, whose variable has a value in it.
  void EnterLoop(NodeId variable);
  // A part in which the variable has a value that is there from depth `place`
  // on.
  void EnterBinding(NodeId variable, int place);
  // A part that may be skipped.
  void EnterBranch();
  void Leave();

  int depth() const { return static_cast<int>(scopes_.size()) - 1; }
  bool HasLoad(NodeId id) { return FactsOf(id).has_load; }
  bool DependsOn(NodeId id, NodeId variable);
  // The scope of the innermost variable.
  int HomeOf(NodeId id);
  // The scope in which the value is computed; kNoPlace if it has loads.
  int PlaceOf(NodeId id);

 private:
  struct Facts {
    bool has_load = false;
    std::vector<NodeId> variables;  // sorted
  };
  struct Scope {
    bool is_loop = false;
    bool is_branch = false;
    bool binds = false;
    NodeId variable = 0;
  };
  struct Binding {
    int home = 0;
    int place = 0;
  };

  const Facts& FactsOf(NodeId id);
  const Binding& BindingOf(NodeId variable) const;
  void Bind(NodeId variable, int place);

  const tensor::ExpressionPool& pool_;
  std::vector<Scope> scopes_;
  std::unordered_map<NodeId, Binding> bindings_;
  std::unordered_map<NodeId, Facts> facts_;
};

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_PLACEMENT_H_
