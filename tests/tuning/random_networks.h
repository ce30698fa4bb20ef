// Makes small networks of random layers and sizes, whose dispatches have the
// forms that models have: convolutions, products, attention, normalisation,
// pooling, quantized layers.
//
//   onnx::ModelBuilder model = MakeRandomNetwork(seed);
//
// Equal seeds give equal networks. A layer has at most about kMaxOperations
// operations.
#ifndef EMBER_TESTS_TUNING_RANDOM_NETWORKS_H_
#define EMBER_TESTS_TUNING_RANDOM_NETWORKS_H_

#include <cstdint>

#include "frontends/onnx/testing/model_builder.h"

namespace ember::tests {

inline constexpr int64_t kMaxOperations = 60'000'000;

onnx::ModelBuilder MakeRandomNetwork(uint64_t seed);

}  // namespace ember::tests

#endif  // EMBER_TESTS_TUNING_RANDOM_NETWORKS_H_
