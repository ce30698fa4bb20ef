#include "tools/lib/tensors/random.h"

#include "tools/lib/tensors/elements.h"

namespace ember::tools {

// The initial state of the generator. Multiplying by an odd number distributes
// the bits of small seeds. The state must not be 0, because xorshift would stay
// at 0.
RandomTensors::RandomTensors(uint64_t seed)
    : state_(0x9e3779b9u ^
             static_cast<uint32_t>((seed * 0x9e3779b97f4a7c15u) >> 32)) {
  if (state_ == 0) state_ = 1;
}

// Returns the next number of the generator, which is xorshift32.
double RandomTensors::Uniform() {
  state_ ^= state_ << 13;
  state_ ^= state_ >> 17;
  state_ ^= state_ << 5;
  return state_ / 4294967296.0;
}

StatusOr<vm::Tensor> RandomTensors::Next(DType type,
                                         std::vector<int64_t> dims) {
  EMBER_ASSIGN_OR_RETURN(vm::Tensor tensor,
                         vm::Tensor::Allocate(type, std::move(dims)));
  const int64_t count = tensor.element_count();
  for (int64_t i = 0; i < count; ++i) {
    const double uniform = Uniform();
    if (IsFloat(type)) {
      SetFloatElement(tensor, i, uniform * 2 - 1);
    } else {
      SetIntegerElement(tensor, i, uniform < 0.5 ? 0 : 1);
    }
  }
  return tensor;
}

}  // namespace ember::tools
