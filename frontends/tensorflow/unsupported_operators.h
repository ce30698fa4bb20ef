// The operators of TensorFlow that are known and not imported, with the reason
// that users are told: a part of the table in operator_table.h.
#ifndef EMBER_FRONTENDS_TENSORFLOW_UNSUPPORTED_OPERATORS_H_
#define EMBER_FRONTENDS_TENSORFLOW_UNSUPPORTED_OPERATORS_H_

#include <vector>

#include "frontends/tensorflow/operator_table.h"

namespace ember::tensorflow {

// Adds a row with a reason for each.
void AddUnsupportedOperators(std::vector<OperatorRow>& rows);

}  // namespace ember::tensorflow

#endif  // EMBER_FRONTENDS_TENSORFLOW_UNSUPPORTED_OPERATORS_H_
