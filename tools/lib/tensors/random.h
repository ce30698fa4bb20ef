// Makes random inputs from a seed: floats in [-1, 1), integers and bools 0 or
// 1.
//
//   RandomTensors random(0);
//   EMBER_ASSIGN_OR_RETURN(vm::Tensor x,
//                          random.Next(DType::kF32, {1, 3, 224, 224}));
//
// The same seed gives the same sequence of tensors on every machine. With seed
// 0 they are the inputs that the project's comparison script feeds to ONNX
// Runtime, so that results can be compared. Not thread-safe.
#ifndef EMBER_TOOLS_LIB_TENSORS_RANDOM_H_
#define EMBER_TOOLS_LIB_TENSORS_RANDOM_H_

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "vm/runtime/tensor.h"

namespace ember::tools {

class RandomTensors {
 public:
  explicit RandomTensors(uint64_t seed);
  StatusOr<vm::Tensor> Next(DType type, std::vector<int64_t> dims);

 private:
  double Uniform();  // returns a random number in [0, 1)

  uint32_t state_;
};

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_TENSORS_RANDOM_H_
