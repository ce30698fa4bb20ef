// Checks of dims. What is known when compiling fails the import; anything else
// becomes a check of the program.
#ifndef EMBER_FRONTENDS_ONNX_OPERATORS_DIM_CHECKS_H_
#define EMBER_FRONTENDS_ONNX_OPERATORS_DIM_CHECKS_H_

#include <string>

#include "frontends/onnx/node/context.h"

namespace ember::onnx {

// These functions fail with `message` unless the dims are equal, or unless
// dim <= most.
void RequireEqual(NodeContext& c, const Dim& a, const Dim& b,
                  const std::string& message);
void RequireAtMost(NodeContext& c, const Dim& dim, const Dim& most,
                   const std::string& message);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_OPERATORS_DIM_CHECKS_H_
