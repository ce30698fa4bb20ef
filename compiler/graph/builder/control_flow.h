// Builds operations with regions, which frontends use for branches, loops and
// recurrent layers.
//
//   // sum = 0; for (row of x) sum = sum + row
//   LoopRequest request{.carried = {zero}, .scanned = {x},
//                       .trip = x->shape()[0]};
//   std::vector<Value*> results = BuildLoop(b, request,
//       [&](Region& region, const LoopInputs& in) -> LoopOutputs {
//         Value* sum = region.builder().Add(in.carried[0], in.scanned[0]);
//         return {.carried = {sum}, .stacked = {sum}};
//       });   // {the last sum, all sums}
//
// A region is built with a GraphBuilder of its own; values of the graph around
// it come in through Region::Capture. Dims of carried values that change from
// iteration to iteration, and of results that differ between branches, become
// symbols that the operation defines. A body may be built several times until
// these dims are known, so it must do the same each time.
//
// Errors stick to the builder (builder.h); the functions then return null
// values. Not thread-safe.
#ifndef EMBER_COMPILER_GRAPH_BUILDER_CONTROL_FLOW_H_
#define EMBER_COMPILER_GRAPH_BUILDER_CONTROL_FLOW_H_

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "compiler/graph/builder/builder.h"

namespace ember::graph {

// A region (a branch of an `if`, or a loop's body) while it is built. The
// builder around it must outlive it.
class Region {
 public:
  Region(GraphBuilder& outer, std::string name);
  Region(Region&&) = default;

  GraphBuilder& builder() { return builder_; }
  // Returns the value inside the region. Constants, and values of type i64 that
  // are known as expressions, are made again inside instead of being passed in.
  Value* Capture(Value* outer);
  // Adds an input that is not a captured value, such as a loop's carried value.
  // All of these inputs come before the first Capture.
  Value* Input(const std::string& name, TensorType type);

  // Returns the values of the surrounding graph that the region captured. They
  // correspond to the region's last inputs, in the same order.
  const std::vector<Value*>& captured() const { return captured_; }

 private:
  friend class IfRegions;

  std::string UniqueName(std::string name);

  GraphBuilder& outer_;
  GraphBuilder builder_;
  std::vector<Value*> captured_;
  std::map<const Value*, Value*> inside_;
  std::set<std::string> names_;
  // For a region of an `if`: the other region. It also captures each value that
  // this region captures, because both regions have the same inputs. Null for a
  // loop's body.
  Region* twin_ = nullptr;
};

struct LoopRequest {
  std::vector<Value*> carried;
  // Values that the body reads one slice at a time: iteration i gets slice i
  // along the first dim, whose extent is `trip`.
  std::vector<Value*> scanned;
  Dim trip;  // Number of iterations of a loop without a condition.
  // True for a conditional loop: it runs while its condition holds, at most
  // `limit` times.
  bool conditional = false;
  // Largest number of iterations of a conditional loop, as a value i64[]; null
  // means no limit.
  Value* limit = nullptr;
  // A value bool[]: a conditional loop runs its first iteration only if it is
  // true. Null means true.
  Value* condition = nullptr;
};
struct LoopInputs {
  // Number of the iteration, counted from 0, as a value i64[].
  Value* iteration;
  std::vector<Value*> carried, scanned;
};
struct LoopOutputs {
  // A value bool[]: another iteration follows if it is true. It is set only in
  // conditional loops.
  Value* proceed = nullptr;
  std::vector<Value*> carried, stacked;
};
using LoopBody = std::function<LoopOutputs(Region&, const LoopInputs&)>;

// Builds a loop. Returns the carried values after the last iteration, then the
// stacked ones.
std::vector<Value*> BuildLoop(GraphBuilder& builder, const LoopRequest& request,
                              const LoopBody& body);

// The two regions of an `if`. The caller builds both, looks at their results,
// and then builds the operation or abandons it. Captures of either region are
// inputs of both, in one order.
//
//   IfRegions regions(builder);
//   Value* a = regions.then().builder().…;
//   Value* b = regions.otherwise().builder().…;
//   std::vector<Value*> results = regions.Build(condition, {a}, {b});
class IfRegions {
 public:
  explicit IfRegions(GraphBuilder& builder);
  IfRegions(const IfRegions&) = delete;
  IfRegions& operator=(const IfRegions&) = delete;

  Region& then() { return then_; }
  Region& otherwise() { return otherwise_; }
  // Builds the operation. `condition` is bool[]. Both regions return values of
  // the same dtypes and ranks.
  std::vector<Value*> Build(Value* condition,
                            const std::vector<Value*>& then_outputs,
                            const std::vector<Value*>& else_outputs);

 private:
  GraphBuilder& builder_;
  Region then_, otherwise_;
};

}  // namespace ember::graph

#endif  // EMBER_COMPILER_GRAPH_BUILDER_CONTROL_FLOW_H_
