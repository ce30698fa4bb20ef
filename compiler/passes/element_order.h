// Describes which elements of a value another value holds, in which order.
// Passes prove with it that they may replace movements by others.
//
//   ElementOrder before(shape);                 // [1, 17, 9, 28]
//   before.Transpose({1, 3, 2, 0});             // [17, 28, 9, 1]
//   before.Reshape({17, 252});
//   ElementOrder after(shape);
//   after.Transpose({0, 1, 3, 2});
//   after.Reshape({17, 252});
//   before == after                             // true, for every index
//
// An index of the first value is split into digits, each a part of one dim: (i
// floordiv stride) mod extent. Each dim of the moved value is a list of digits.
// Dims of extent 1 have no digits, so they neither block a split nor are
// confused with others. Extents may be symbolic; a split that does not hold for
// all values of the symbols is not proved.
//
// Plain values. Thread-compatible.
#ifndef EMBER_COMPILER_PASSES_ELEMENT_ORDER_H_
#define EMBER_COMPILER_PASSES_ELEMENT_ORDER_H_

#include <vector>

#include "compiler/graph/dim.h"
#include "compiler/graph/graph.h"
#include "compiler/passes/permutation.h"

namespace ember::compiler {

class ElementOrder {
 public:
  // Makes the order in which a value of this shape holds all its own elements.
  explicit ElementOrder(const graph::Shape& shape);

  // These functions apply a movement to the elements. A function that returns a
  // bool returns false and changes nothing if the order after the movement
  // cannot be expressed. A function without a result always succeeds.
  void Transpose(const Permutation& permutation);
  [[nodiscard]] bool Reshape(const graph::Shape& shape);
  // Broadcasts the value as elementwise operations broadcast their operands.
  // The shape has at least as many dims.
  void Broadcast(const graph::Shape& shape);
  // Applies an operation to its first operand's order, if the operation is a
  // transpose or a reshape. Returns false for other operations.
  [[nodiscard]] bool Move(const graph::Operation& movement);

  const graph::Shape& shape() const { return shape_; }

  // True if a and b have the same shape and hold the same element at each
  // index.
  friend bool operator==(const ElementOrder& a, const ElementOrder& b);

 private:
  struct Digit {
    // Number of the dim of the first value of which this digit is a part. It is
    // -1 for a dim that a broadcast added or repeats: its index selects no
    // element.
    int dim;
    graph::Dim stride;
    graph::Dim extent;

    bool operator==(const Digit&) const = default;
  };
  // The digits that form the index of one dim, the slowest-varying one first.
  using Digits = std::vector<Digit>;

  static Digits Join(const std::vector<Digits>& dims);

  graph::Shape shape_;
  std::vector<Digits> dims_;
};

// True if two values are proved to be equal, however they are computed: both
// are movements (transpose, reshape) of one value, or movements of results of
// the same elementwise operator whose operands are equal in this sense.
bool HoldSameElements(const graph::Value* a, const graph::Value* b);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_PASSES_ELEMENT_ORDER_H_
