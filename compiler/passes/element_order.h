// Which elements of a value another one holds, in which order: the proof that
// passes have to give before they put movements in the place of others.
//
//   ElementOrder before(shape);                 // [1, 17, 9, 28]
//   before.Transpose({1, 3, 2, 0});             // [17, 28, 9, 1]
//   before.Reshape({17, 252});
//   ElementOrder after(shape);
//   after.Transpose({0, 1, 3, 2});
//   after.Reshape({17, 252});
//   before == after                             // true, for every index
//
// An index of the first value is taken apart into digits, each a part of one
// dim: (i floordiv stride) mod extent. Each dim that follows is a list of
// digits. Dims of extent 1 have none, so they can neither be in the way nor be
// mistaken for others. Extents may be symbolic; what cannot be taken apart for
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
  // All elements in their own order.
  explicit ElementOrder(const graph::Shape& shape);

  // What the movement makes of the elements so far. False, and nothing is
  // changed, where it cannot be told; the others are always told.
  void Transpose(const Permutation& permutation);
  [[nodiscard]] bool Reshape(const graph::Shape& shape);
  // As operands of elementwise operations are read. The shape has at least as
  // many dims.
  void Broadcast(const graph::Shape& shape);
  // By an operation of one of these operators, of its first operand.
  [[nodiscard]] bool Move(const graph::Operation& movement);

  const graph::Shape& shape() const { return shape_; }

  // The same element at each index.
  friend bool operator==(const ElementOrder& a, const ElementOrder& b);

 private:
  struct Digit {
    int dim;  // of the first value; -1: which one it is does not matter
    graph::Dim stride;
    graph::Dim extent;

    bool operator==(const Digit&) const = default;
  };
  // Digits of one dim, the slowest first.
  using Digits = std::vector<Digit>;

  static Digits Join(const std::vector<Digits>& dims);

  graph::Shape shape_;
  std::vector<Digits> dims_;
};

// Whether two values are proved to be equal, whatever they are made of: both
// are movements (transpose, reshape) of one value, or movements of what the
// same elementwise operator makes of operands that are equal in this sense.
bool HoldSameElements(const graph::Value* a, const graph::Value* b);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_PASSES_ELEMENT_ORDER_H_
