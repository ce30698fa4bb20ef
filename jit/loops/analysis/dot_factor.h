// Recognises the factors of dot products (dot_product.h): elements that are
// widened, or numbers of a few bits that are unpacked from bytes first.
//
//   i32(%a[i, k])                                     the load, unchanged
//   i32((%w[n, k] >> (h * 4)) & 15)                   unpacked in registers
//   i32(((%low[n, k] >> 4) & 15) | ((%high[n, k] & 3) << 4))
//
// An unpacked factor is an expression tree of byte operations. Its leaves are
// loads, and expressions that load nothing and do not depend on the dot loop's
// variable. So all bytes of a vector of elements are unpacked by the same
// instructions.
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
  // The load or pad that reads the factor; the first one if there are several.
  NodeId load = 0;
  // The value that the factor's cast widens. It equals `load` if no operation
  // lies between them.
  NodeId value = 0;
  // The loads after the first, if the bits of one number are stored in several
  // elements.
  std::vector<NodeId> more_loads;

  bool is_unpacked() const { return load != value; }
};

// Returns the factor if `widened` is a cast of an access (a load or a pad), or
// of a value that is unpacked from loads; otherwise returns nullopt.
// `variable`: the variable of the dot loop, if known. A leaf that depends on it
// and is no load makes the result nullopt, too.
std::optional<DotFactor> DotFactorOf(const tensor::ExpressionPool& pool,
                                     NodeId widened,
                                     std::optional<NodeId> variable = {});

// Returns all loads and pads that a dot loop's factor reads.
std::vector<NodeId> LoadsOf(const DotFactor& factor);

// Returns the leaves of the factor's expression tree other than its loads. The
// list is empty if the factor is not unpacked.
std::vector<NodeId> LeavesOf(const tensor::ExpressionPool& pool,
                             const DotFactor& factor);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_ANALYSIS_DOT_FACTOR_H_
