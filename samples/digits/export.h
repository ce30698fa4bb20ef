// Writes the network as an ONNX model: input "image" f32[N, 1, 28, 28], output
// "probabilities" f32[N, 10].
//
//   std::string bytes = ToOnnx(network);   // the contents of a .onnx file
#ifndef EMBER_SAMPLES_DIGITS_EXPORT_H_
#define EMBER_SAMPLES_DIGITS_EXPORT_H_

#include <string>

#include "samples/digits/network.h"

namespace ember::digits {

std::string ToOnnx(const Network& network);

}  // namespace ember::digits

#endif  // EMBER_SAMPLES_DIGITS_EXPORT_H_
