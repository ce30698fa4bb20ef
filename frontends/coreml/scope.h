// The named values that a network's layers or a program's operations can read:
// results of earlier operations, and values from outside the branch or loop
// that contains them.
//
//   Scope inner(scope, region);          // of a branch
//   const MilValue* x = inner.Find("x"); // captured from outside, if need be
//   inner.Set("x", {.tensor = y});       // the one outside stays
//
// A network's blob is a value with only a tensor. Does not own the region, the
// builder or the scope around it; not thread-safe.
#ifndef EMBER_FRONTENDS_COREML_SCOPE_H_
#define EMBER_FRONTENDS_COREML_SCOPE_H_

#include <map>
#include <string>
#include <utility>

#include "base/status.h"
#include "compiler/graph/builder/builder.h"
#include "compiler/graph/builder/control_flow.h"
#include "frontends/coreml/mil_operation.h"

namespace ember::coreml {

// Largest nesting depth of branches and loops.
inline constexpr int kMaxNesting = 16;
// Largest number of steps that all branches and loops may have together. A step
// counts each time that it is imported: a loop whose shapes change is imported
// several times, and so is each loop in it.
inline constexpr int64_t kMaxInnerSteps = int64_t{1} << 16;

class Scope {
 public:
  explicit Scope(graph::GraphBuilder& builder) : builder_(&builder) {}
  // Makes a scope for a region (a branch or a loop's body) whose graph lies
  // within the graph of `parent`.
  Scope(Scope& parent, graph::Region& region);
  // Makes a scope for a block that is imported into the same graph as `parent`.
  explicit Scope(Scope& parent);
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  graph::GraphBuilder& builder() const { return *builder_; }
  int depth() const { return depth_; }

  // Returns the value of this name; null if there is none. The pointer is valid
  // until the name is set again.
  const MilValue* Find(const std::string& name);
  void Set(const std::string& name, MilValue value) {
    values_[name] = std::move(value);
  }
  // Makes Find return null for the name from here on. It is for a value that a
  // branch or a loop may or may not have produced.
  void Lose(const std::string& name) { values_[name] = {.is_lost = true}; }
  bool IsLost(const std::string& name) const;
  // Returns the error for a value that is missing. For example, what = "blob"
  // and maker = "layer" give "expected a blob 'x' of a layer before it, found
  // none".
  Status Missing(const std::string& name, const std::string& what,
                 const std::string& maker) const;
  // Fails if branches and loops nest deeper than kMaxNesting.
  Status CheckDepth() const;
  // Counts a layer or operation that is about to be imported into a branch or
  // loop; fails if there were more than kMaxInnerSteps.
  Status CountStep(int64_t& steps) const;

 private:
  graph::GraphBuilder* builder_;
  Scope* parent_ = nullptr;
  graph::Region* region_ = nullptr;
  int depth_ = 0;
  std::map<std::string, MilValue> values_;
};

}  // namespace ember::coreml

#endif  // EMBER_FRONTENDS_COREML_SCOPE_H_
