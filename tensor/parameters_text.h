// Formats the parameters of a call for messages: "N=2, M=7", or "no
// parameters".
#ifndef EMBER_TENSOR_PARAMETERS_TEXT_H_
#define EMBER_TENSOR_PARAMETERS_TEXT_H_

#include <cstdint>
#include <span>
#include <string>

#include "tensor/dispatch.h"

namespace ember::tensor {

inline std::string ParametersText(const Dispatch& dispatch,
                                  std::span<const int64_t> parameters) {
  std::string text;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (i > 0) text += ", ";
    text += dispatch.parameters[i] + "=" + std::to_string(parameters[i]);
  }
  return text.empty() ? "no parameters" : text;
}

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_PARAMETERS_TEXT_H_
