// Checks of dims. If the dims are known when compiling, a failed check is an
// error of the import; otherwise the program makes the check when it runs.
#ifndef EMBER_FRONTENDS_ONNX_OPERATORS_DIM_CHECKS_H_
#define EMBER_FRONTENDS_ONNX_OPERATORS_DIM_CHECKS_H_

#include <string>

#include "frontends/onnx/node/context.h"

namespace ember::onnx {

// RequireEqual fails with `message` unless a = b, RequireAtMost unless dim <=
// most.
void RequireEqual(NodeContext& c, const Dim& a, const Dim& b,
                  const std::string& message);
void RequireAtMost(NodeContext& c, const Dim& dim, const Dim& most,
                   const std::string& message);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_OPERATORS_DIM_CHECKS_H_
