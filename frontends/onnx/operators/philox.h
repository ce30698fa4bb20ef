// Random numbers as graph operators: Philox4x32-10, the counter-based generator
// of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2,
// 3" (SC 2011). The counter is the element's number, so every tier and every
// number of threads gives the same values. No state is carried between runs: a
// model gives the same "random" numbers each time it runs.
//
//   RandomNumbers numbers(c, RandomKey(c), x.shape());
//   Tensor kept = Less(ratio, numbers.Uniform(DType::kF32));  // in [0, 1)
#ifndef EMBER_FRONTENDS_ONNX_OPERATORS_PHILOX_H_
#define EMBER_FRONTENDS_ONNX_OPERATORS_PHILOX_H_

#include <array>
#include <cstdint>

#include "frontends/onnx/node/context.h"

namespace ember::onnx {

// Returns the node's seed (a float or an integer attribute), else a hash of the
// node's label and first output, so that different nodes get different numbers.
uint64_t RandomKey(NodeContext& c);

class RandomNumbers {
 public:
  RandomNumbers(NodeContext& c, uint64_t key, const Shape& shape);

  // Returns uniform numbers in [0, 1), with as many random bits as the type's
  // significand has. f16 and bf16 numbers are returned as f32, so that they are
  // not rounded to 1.
  Tensor Uniform(DType type) const;
  // Returns uniform numbers in (0, 1), as f32 or f64. Neither end is included.
  Tensor UniformOpen(DType type) const;
  // Returns standard normal numbers (Box and Muller 1958), f32 or f64.
  Tensor Normal(DType type) const;
  // Returns four words of 32 random bits for each element, as u64, for tests of
  // the generator.
  const std::array<Tensor, 4>& words() const { return words_; }

 private:
  // Returns the upper `bits` bits of a random word. For more than 32 bits, it
  // returns the upper bits of a pair of words.
  Tensor Bits(int first_word, int bits) const;

  std::array<Tensor, 4> words_;
};

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_OPERATORS_PHILOX_H_
