// Advice about operators that are not imported: the reason, and what to do
// instead. It is shown in the list of unsupported operators and on the coverage
// page.
//
//   UnsupportedAdvice("", "GRUUnit")
//   // "it was taken back from ONNX: …", without a full stop
#ifndef EMBER_FRONTENDS_ONNX_IMPORT_UNSUPPORTED_H_
#define EMBER_FRONTENDS_ONNX_IMPORT_UNSUPPORTED_H_

#include <string_view>

namespace ember::onnx {

// Returns the advice about an operator: one line, in which parentheses are
// balanced; empty if there is none. The domain "ai.onnx" is the default domain
// "".
std::string_view UnsupportedAdvice(std::string_view domain,
                                   std::string_view name);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_IMPORT_UNSUPPORTED_H_
