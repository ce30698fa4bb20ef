// Fills memory with random elements: the operands of kernels that are measured.
//
//   std::mt19937_64 engine(1);
//   FillRandom(DType::kF32, bytes.data(), bytes.size(), engine);
//
// Floats are in [-1, 1). Other elements are 0 or 1, because these values are
// valid indices in most dispatches. Thread-safe.
#ifndef EMBER_TUNE_MEASURE_RANDOM_ELEMENTS_H_
#define EMBER_TUNE_MEASURE_RANDOM_ELEMENTS_H_

#include <cstddef>
#include <cstdint>
#include <random>

#include "base/dtype.h"

namespace ember::tune {

// Fills `bytes` bytes at `data`; `bytes` is a multiple of the size of the type.
void FillRandom(DType type, uint8_t* data, size_t bytes,
                std::mt19937_64& engine);

}  // namespace ember::tune

#endif  // EMBER_TUNE_MEASURE_RANDOM_ELEMENTS_H_
