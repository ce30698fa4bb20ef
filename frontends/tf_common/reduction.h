// Imports reductions along the dims that an operand lists. Operands: (x, axes).
#ifndef EMBER_FRONTENDS_TF_COMMON_REDUCTION_H_
#define EMBER_FRONTENDS_TF_COMMON_REDUCTION_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "frontends/tf_common/operator_base.h"

namespace ember::tf_common {

// Returns the axes in ascending order, each once; nullopt after an error.
std::optional<std::vector<int64_t>> ReducedAxes(OperatorBase& c);

// Imports a reduction. `combiner`: sum, product, maximum, minimum. `keep`:
// reduced dims stay as dims of 1.
void ImportReduced(OperatorBase& c, std::string_view combiner, bool keep);
// Like ImportReduced, for bool: the maximum is true if any element is true, the
// minimum if all elements are true.
void ImportReducedBool(OperatorBase& c, std::string_view combiner, bool keep);

}  // namespace ember::tf_common

#endif  // EMBER_FRONTENDS_TF_COMMON_REDUCTION_H_
