// Checks default schedules for matrix products on tensor cores. Results on the
// device of device.h must equal those of the evaluator of nests, bit for bit
// unless a test allows an error, and there must be no bank conflicts. If ptxas
// is installed, it must accept the code.
//
//   std::string ptx;
//   const std::optional<uint64_t> products = ExpectOnGrid(dispatch_text, &ptx);
#ifndef EMBER_JIT_PTX_TESTING_PRODUCTS_H_
#define EMBER_JIT_PTX_TESTING_PRODUCTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "jit/loops/loop_nest.h"
#include "jit/target/gpu_model.h"

namespace ember::jit::ptx {

// Returns the model of a GPU that is so small that even a small product is
// split into several blocks.
GpuModel SmallGpu(std::string_view target);

// Returns the nest of the dispatch under the default schedule for the GPU. If
// there is none, the test fails and the result is nullopt. `constant`: name of
// an input that never changes, or "".
std::optional<loops::LoopNest> NestByDefault(std::string_view text,
                                             const GpuModel& gpu,
                                             std::string_view constant = "");

// Returns the nest's PTX for the target. If it cannot be compiled, the test
// fails.
std::string PtxOf(const loops::LoopNest& nest, std::string_view target);

struct GridExpectations {
  // Largest absolute and relative error of results. It is not 0 if matrix
  // instructions add up in another order than the evaluator.
  double within = 0;
  // True if the code must multiply by matrix instructions, and load factors
  // without bank conflicts. False for shapes that would leave matrices mostly
  // empty.
  bool has_matrices = true;
  // name of an input that never changes; "": there is none
  std::string_view constant = "";
  // lines of the schedule to use; "": the default schedule
  std::string_view schedule = "";
  // features that the target gets in addition to the device's, such as "+tf32"
  std::string_view features = "";
  // A part of the target's text that is removed, and the text that replaces it.
  std::string_view without = "";
  std::string_view instead = "";
  // Number of processors of the GPU that the schedule is chosen for. If there
  // are several, the model counts no cost for starting another phase, so that
  // small sums are split, too.
  int64_t processors = 1;
};

// Compiles and runs the dispatch, and expects the results of the evaluator of
// nests. Returns the number of matrix products that warps or warpgroups
// executed; nullopt on a GPU, which does not count them. ptx: if not null, gets
// the kernel's text.
std::optional<uint64_t> ExpectOnGrid(std::string_view text,
                                     std::string* ptx = nullptr,
                                     const GridExpectations& expectations = {});

// Like ExpectOnGrid, for a product of two f32 inputs on a target that allows
// tf32. The factors have random bits. Results must equal the evaluator's for
// factors that are cut off to tf32, apart from the order of sums. Compared with
// the evaluator's for exact factors, they must be within 2^-9 of the sum of the
// products' magnitudes, since each factor is off by less than 2^-10 of itself.
void ExpectTf32OnGrid(std::string_view text, std::string* ptx = nullptr,
                      const GridExpectations& expectations = {});

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_TESTING_PRODUCTS_H_
