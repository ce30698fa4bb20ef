// Products of quantized tensors read bytes: machines have sums of products of
// 8- and 16-bit integers, and memory holds four times as many.
#ifndef EMBER_COMPILER_PASSES_NARROW_PRODUCTS_H_
#define EMBER_COMPILER_PASSES_NARROW_PRODUCTS_H_

#include "base/status.h"
#include "compiler/graph/graph.h"

namespace ember::compiler {

// In contract and conv of i32 whose factors are widened 8-bit integers, less a
// zero point each, the factors become casts of what is narrow (lowering reads
// through those). By constant weights, sums of i32 wrap, so that with the zero
// point z of the other factor
//
//   sum((i32(x) - z) * w) = sum(i32(x) * w) - z * sum(w)
//
// and sum(w) is a constant; a convolution's padding, which was 0 behind the
// zero point, is z. A zero point of constant weights is taken off them. Where
// neither factor is constant, x - z is stored as i16. Views of what is widened
// become views of what is narrow, floats, too. Results are the same bit for
// bit.
Status NarrowProducts(graph::Graph& graph);

// A cast to a wider integer or float.
bool WidensNumbers(const graph::Operation& operation);

// Whether contractions alone read the value, and there are some.
bool IsReadByProductsOnly(const graph::Value& value);

// A cast to a wider integer or float that contractions alone read: nothing is
// gained by computing it before, or storing its result.
bool WidensForProducts(const graph::Operation& operation);

}  // namespace ember::compiler

#endif  // EMBER_COMPILER_PASSES_NARROW_PRODUCTS_H_
