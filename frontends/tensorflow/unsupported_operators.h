// The operators of TensorFlow that are known but not imported, with the reason
// that users see: a part of the table in operator_table.h.
#ifndef EMBER_FRONTENDS_TENSORFLOW_UNSUPPORTED_OPERATORS_H_
#define EMBER_FRONTENDS_TENSORFLOW_UNSUPPORTED_OPERATORS_H_

#include <vector>

#include "frontends/tensorflow/operator_table.h"

namespace ember::tensorflow {

// Adds a row with the reason for each operator that is known but not imported.
void AddUnsupportedOperators(std::vector<OperatorRow>& rows);

}  // namespace ember::tensorflow

#endif  // EMBER_FRONTENDS_TENSORFLOW_UNSUPPORTED_OPERATORS_H_
