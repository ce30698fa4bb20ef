// Mutates ONNX models so that they mostly stay models, which get past the
// parser in fuzzing.
//
//   std::mt19937_64 random(seed);
//   MutateModel(model, random);          // one to four changes
//   CrossModels(model, other, random);   // a node of `other` joins `model`
//
// The same model and generator give the same changes. Thread-compatible.
#ifndef EMBER_TESTS_ONNX_TESTING_MUTATE_MODEL_H_
#define EMBER_TESTS_ONNX_TESTING_MUTATE_MODEL_H_

#include <random>

#include "third_party/onnx/onnx.pb.h"

namespace ember::tests {

// Locations that external data may get: a file in the model's folder, links
// that leave the folder, a path outside of it. The first one is a file of
// kWeightsBytes bytes, if the caller makes it.
inline constexpr const char* kLocations[] = {"weights.bin",
                                             "link.bin",
                                             "linked/weights.bin",
                                             "../weights.bin",
                                             "/etc/passwd",
                                             "none.bin",
                                             "."};
inline constexpr int kWeightsBytes = 4096;

void MutateModel(onnx::ModelProto& model, std::mt19937_64& random);
void CrossModels(onnx::ModelProto& model, const onnx::ModelProto& other,
                 std::mt19937_64& random);

}  // namespace ember::tests

#endif  // EMBER_TESTS_ONNX_TESTING_MUTATE_MODEL_H_
