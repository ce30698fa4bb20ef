// Computes the contents of small integer tensors as expressions over the dims,
// so that shape arithmetic in a model (Shape, Gather, Mul, Concat → Reshape)
// becomes symbolic dims again.
//
//   IntegerContents contents;
//   contents.Record(*shape_value_operation);         // results known now
//   contents.Find(value)                             // {N, 4}, or null
//
// Knows constants, shape_value, iota, casts, integer arithmetic and comparisons
// where they are decided, select on a known condition, slice, gather, concat,
// reshape, broadcast, transpose and reduce, of at most kMaxElements
// elements. Float tensors are followed while their values are whole numbers
// (exporters multiply and divide shapes in float and cast back). Not
// thread-safe.
#ifndef EMBER_COMPILER_GRAPH_BUILDER_INTEGER_CONTENTS_H_
#define EMBER_COMPILER_GRAPH_BUILDER_INTEGER_CONTENTS_H_

#include <unordered_map>
#include <vector>

#include "compiler/graph/graph.h"

namespace ember::graph {

class IntegerContents {
 public:
  static constexpr int64_t kMaxElements = 512;

  // Computes the result of an operation whose operands were recorded or are
  // unknown.
  void Record(const Operation& operation);
  // Returns the elements of a value as expressions, row-major; null if they are
  // unknown. The result is valid until the next call of Record.
  const std::vector<Dim>* Find(const Value* value) const;

 private:
  std::unordered_map<const Value*, std::vector<Dim>> contents_;
};

}  // namespace ember::graph

#endif  // EMBER_COMPILER_GRAPH_BUILDER_INTEGER_CONTENTS_H_
