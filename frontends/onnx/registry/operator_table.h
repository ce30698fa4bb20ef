// The table of ONNX operators of all families.
#ifndef EMBER_FRONTENDS_ONNX_REGISTRY_OPERATOR_TABLE_H_
#define EMBER_FRONTENDS_ONNX_REGISTRY_OPERATOR_TABLE_H_

#include <span>
#include <string_view>

#include "frontends/onnx/node/operator_row.h"

namespace ember::onnx {

// Returns the row of an operator that is valid at this opset; null if there is
// none. The domain "ai.onnx" is the default domain "".
const OperatorRow* FindOperator(std::string_view domain, std::string_view name,
                                int opset);

// Returns the rows of all operators; those of a family are adjacent.
std::span<const OperatorRow> OperatorTable();

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_REGISTRY_OPERATOR_TABLE_H_
