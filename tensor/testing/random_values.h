// Helpers shared by random tests of dispatches and of loop nests: data,
// instructions that every executor computes bit for bit, and the comparison of
// results.
#ifndef EMBER_TENSOR_TESTING_RANDOM_VALUES_H_
#define EMBER_TENSOR_TESTING_RANDOM_VALUES_H_

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "tensor/instructions.h"

namespace ember::tensor {

class RandomChoices {
 public:
  explicit RandomChoices(uint64_t seed) : random_(seed) {}

  int Below(int limit) {
    return static_cast<int>(random_() % static_cast<uint64_t>(limit));
  }
  bool Chance(int one_in) { return Below(one_in) == 0; }
  template <typename T>
  const T& Pick(const std::vector<T>& items) {
    return items[static_cast<size_t>(Below(static_cast<int>(items.size())))];
  }
  DType AnyType() { return static_cast<DType>(Below(kDTypeCount)); }

 private:
  std::mt19937_64 random_;
};

// True for instructions that every executor computes exactly: all but
// transcendental functions and powers of floats. `type` is the type of the
// operands and the result.
bool IsExact(Opcode opcode, DType type);

// Returns random elements that are integers of 4 bits, so that sums of them are
// exact.
std::vector<uint8_t> RandomElements(std::mt19937_64& random, DType type,
                                    int64_t count);

// Replaces some elements of a float type by infinities, NaN, zeros of either
// sign and very large values. If with_subnormals, it also uses subnormal
// values.
void AddSpecialValues(std::mt19937_64& random, DType type, bool with_subnormals,
                      std::vector<uint8_t>& elements);

// Returns a text such as "element 3: expected 1, found 2" for the first element
// that differs. It is empty if all elements are equal bit for bit; all NaNs
// count as equal, and so do +0 and -0. With a tolerance, elements a and b count
// as equal if |a - b| <= absolute + relative * |a|.
std::string FirstDifferentElement(DType type,
                                  const std::vector<uint8_t>& expected,
                                  const std::vector<uint8_t>& actual,
                                  double absolute = 0, double relative = 0);

std::vector<void*> Pointers(std::vector<std::vector<uint8_t>>& buffers);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_TESTING_RANDOM_VALUES_H_
