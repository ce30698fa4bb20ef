// Arithmetic rows (jit/loops/arithmetic_cases.h) as nests for devices: each
// case is two phases, one value at a time and in lanes, of all pairs of
// patterns.
//
//   ArithmeticNest test = MakeArithmeticNest(cases);
//   Status status = RunOnDevice(test.nest, {}, test.buffers);
//   ExpectResults(test);
#ifndef EMBER_JIT_GPU_ARITHMETIC_TESTING_H_
#define EMBER_JIT_GPU_ARITHMETIC_TESTING_H_

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/dtype.h"
#include "jit/gpu/testing.h"
#include "jit/loops/arithmetic_cases.h"
#include "jit/loops/loop_nest.h"

namespace ember::jit::gpu {

struct ArithmeticNest {
  std::vector<loops::ArithmeticCase> cases;
  loops::LoopNest nest;
  // Three operands of each case, then two results of each: those of single
  // values, and those of lanes.
  Bytes buffers;
  Bytes expected;  // of each case
};

// change: what is done to the bytes of an operand first; may be null.
ArithmeticNest MakeArithmeticNest(
    std::span<const loops::ArithmeticCase> cases,
    const std::function<void(DType, std::vector<uint8_t>&)>& change = nullptr);

// Compares the results in `buffers`. accept: may change what is expected, by
// what was found; may be null.
void ExpectResults(
    const ArithmeticNest& test,
    const std::function<void(DType, const std::vector<uint8_t>& found,
                             std::vector<uint8_t>& expected)>& accept =
        nullptr);

}  // namespace ember::jit::gpu

#endif  // EMBER_JIT_GPU_ARITHMETIC_TESTING_H_
