// Fills memory with random elements, as operands of measured kernels are.
//
//   std::mt19937_64 engine(1);
//   FillRandom(DType::kF32, bytes.data(), bytes.size(), engine);
//
// Floats are in [-1, 1), other elements are 0 or 1, which are valid indices of
// most dispatches. Thread-safe.
#ifndef EMBER_TUNE_MEASURE_RANDOM_ELEMENTS_H_
#define EMBER_TUNE_MEASURE_RANDOM_ELEMENTS_H_

#include <cstddef>
#include <cstdint>
#include <random>

#include "base/dtype.h"

namespace ember::tune {

// bytes: the size of the memory, a multiple of the type's.
void FillRandom(DType type, uint8_t* data, size_t bytes,
                std::mt19937_64& engine);

}  // namespace ember::tune

#endif  // EMBER_TUNE_MEASURE_RANDOM_ELEMENTS_H_
