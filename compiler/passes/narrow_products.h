// Lets products of quantized tensors read bytes: machines have sums of products
// of 8- and 16-bit integers, and memory holds four times as many of them.
#ifndef EMBER_COMPILER_PASSES_NARROW_PRODUCTS_H_
#define EMBER_COMPILER_PASSES_NARROW_PRODUCTS_H_

#include "base/status.h"
#include "compiler/graph/graph.h"

namespace ember::compiler {

// In contract and conv of i32 whose factors are widened 8-bit integers, less a
// zero point each, the factors become casts of the narrow values, through which
// lowering reads. Sums of i32 wrap, so for constant weights and the zero point
// z of the other factor
//
//   sum((i32(x) - z) * w) = sum(i32(x) * w) - z * sum(w)
//
// and sum(w) is a constant. The padding of a convolution, which was 0 after
// subtracting the zero point, becomes z. The zero point of constant weights is
// subtracted from them. If neither factor is constant, x - z is stored as i16.
// Views of widened values become views of narrow ones, also for floats. Results
// are the same bit for bit.
Status NarrowProducts(graph::Graph& graph);

// True for a cast to a wider integer or float.
bool WidensNumbers(const graph::Operation& operation);

// True if operations read the value, all of them are contractions, and the
// value is no result of the graph.
bool IsReadByProductsOnly(const graph::Value& value);

// True for a cast to a wider integer or float that only contractions read:
// computing it earlier, or storing its result, gains nothing.
bool WidensForProducts(const graph::Operation& operation);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_PASSES_NARROW_PRODUCTS_H_
