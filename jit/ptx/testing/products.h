// Checks default schedules for products that tensor cores multiply. The device
// of device.h must agree with the evaluator of nests, bit for bit, and
// have no bank conflicts. Where ptxas is installed, it must accept the code.
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

// Returns the model of a GPU that is so small that even little products have
// several blocks.
GpuModel SmallGpu(std::string_view target);

// Returns the dispatch's nest under the default schedule for the GPU. If there
// is none, returns nothing and fails an expectation. constant: an input that
// never changes; "": none.
std::optional<loops::LoopNest> NestByDefault(std::string_view text,
                                             const GpuModel& gpu,
                                             std::string_view constant = "");

// Returns the nest's code for the target. A failure fails an expectation.
std::string PtxOf(const loops::LoopNest& nest, std::string_view target);

struct GridExpectations {
  // Largest absolute and relative error of results, which is not 0 because sums
  // of matrices have another order.
  double within = 0;
  // True if there must be products of matrices. Loads for these products must
  // take one pass over the banks. Shapes that fill few matrices need not have
  // any.
  bool has_matrices = true;
  // An input that never changes; "": none.
  std::string_view constant = "";
  // If not "", lines of a schedule to use instead of the default one.
  std::string_view schedule = "";
  // Features that the target has in addition to the device's: "+tf32".
  std::string_view features = "";
  // A feature that is removed from the target, and the feature that replaces
  // it.
  std::string_view without = "";
  std::string_view instead = "";
  // Number of processors in the GPU that the schedule is for. With several,
  // another phase costs only the data that it moves, so small sums are split.
  int64_t processors = 1;
};

// Runs the dispatch under its default schedule and compares the results with
// those of the evaluator of nests. Returns the number of products of matrices
// that warps or warpgroups made; nothing on a GPU, which does not count them.
// ptx: gets the kernel's text, if not null.
std::optional<uint64_t> ExpectOnGrid(std::string_view text,
                                     std::string* ptx = nullptr,
                                     const GridExpectations& expectations = {});

// Does the same as ExpectOnGrid for a product of f32 by f32 whose two factors
// are its inputs, with factors of any bits, on a target that allows tf32.
// Results must be those of the evaluator with factors cut off to tf32, apart
// from the order of sums. They must be within 2^-9 of the sum of the products'
// magnitudes from exact factors, since each factor is off by less than 2^-10 of
// itself.
void ExpectTf32OnGrid(std::string_view text, std::string* ptx = nullptr,
                      const GridExpectations& expectations = {});

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_TESTING_PRODUCTS_H_
