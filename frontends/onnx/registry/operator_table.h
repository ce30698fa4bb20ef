// The table of ONNX operators of all families.
#ifndef EMBER_FRONTENDS_ONNX_REGISTRY_OPERATOR_TABLE_H_
#define EMBER_FRONTENDS_ONNX_REGISTRY_OPERATOR_TABLE_H_

#include <span>
#include <string_view>

#include "frontends/onnx/node/operator_row.h"

namespace ember::onnx {

// Returns null if there is no such operator at this opset. "ai.onnx" is the
// default domain "".
const OperatorRow* FindOperator(std::string_view domain, std::string_view name,
                                int opset);

// Returns all rows, family by family.
std::span<const OperatorRow> OperatorTable();

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_REGISTRY_OPERATOR_TABLE_H_
