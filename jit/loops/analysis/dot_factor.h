// Recognises the factors of dot products (dot_product.h): elements that are
// widened, or numbers of a few bits that are unpacked from bytes first.
//
//   i32(%a[i, k])                                     the load, unchanged
//   i32((%w[n, k] >> (h * 4)) & 15)                   unpacked in registers
//   i32(((%low[n, k] >> 4) & 15) | ((%high[n, k] & 3) << 4))
//
// A factor that is unpacked is a tree of byte operations. Some leaves are
// loads. The other leaves do not depend on the dot loop's variable, and load
// nothing, so each byte of a vector of elements is unpacked in the same way.
//
// The operations are those that machines have for vectors of bytes: and, or,
// xor, shifts, addition and subtraction.
#ifndef EMBER_JIT_LOOPS_ANALYSIS_DOT_FACTOR_H_
#define EMBER_JIT_LOOPS_ANALYSIS_DOT_FACTOR_H_

#include <optional>
#include <vector>

#include "tensor/builder/expression_pool.h"

namespace ember::loops {

using tensor::NodeId;

struct DotFactor {
  NodeId load = 0;   // the access; the first one if there are several
  NodeId value = 0;  // the value that is widened; equal to `load` if unchanged
  // The other accesses, for numbers whose bits lie in several buffers.
  std::vector<NodeId> more_loads;

  bool is_unpacked() const { return load != value; }
};

// Returns the factor if `widened` is a cast of an access (a load or a pad), or
// of a value that is unpacked from loads. Returns nullopt otherwise, and if a
// leaf depends on `variable`, the variable of the dot loop, where that is
// given.
std::optional<DotFactor> DotFactorOf(const tensor::ExpressionPool& pool,
                                     NodeId widened,
                                     std::optional<NodeId> variable = {});

// Returns all accesses of the factor.
std::vector<NodeId> LoadsOf(const DotFactor& factor);

// Returns the leaves of the tree other than its loads. There are none if the
// factor is not unpacked.
std::vector<NodeId> LeavesOf(const tensor::ExpressionPool& pool,
                             const DotFactor& factor);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_ANALYSIS_DOT_FACTOR_H_
