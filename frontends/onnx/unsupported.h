// What to tell about operators that are not imported: why, and what to do
// instead. Users meet it in the list of unsupported operators, readers on the
// coverage page.
//
//   UnsupportedAdvice("", "ImageDecoder")
//   // "Ember decodes no image files: …", without a full stop
#ifndef EMBER_FRONTENDS_ONNX_UNSUPPORTED_H_
#define EMBER_FRONTENDS_ONNX_UNSUPPORTED_H_

#include <string_view>

namespace ember::onnx {

// One line; empty where there is nothing to say. Parentheses are in pairs.
// "ai.onnx" is the default domain "".
std::string_view UnsupportedAdvice(std::string_view domain,
                                   std::string_view name);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_UNSUPPORTED_H_
