// Checks of what default schedules make of products that tensor cores multiply:
// on the device of device_testing.h beside the evaluator of nests, bit for bit,
// without conflicts of banks, and through ptxas where it is.
//
//   std::string ptx;
//   const std::optional<uint64_t> products = ExpectOnGrid(dispatch_text, &ptx);
#ifndef EMBER_JIT_PTX_PRODUCTS_TESTING_H_
#define EMBER_JIT_PTX_PRODUCTS_TESTING_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "jit/loops/loop_nest.h"
#include "jit/target/gpu_model.h"

namespace ember::jit::ptx {

// So small that little products have several blocks.
GpuModel SmallGpu(std::string_view target);

// The dispatch's nest under the default schedule for the GPU; nothing, and a
// failed expectation, where there is none. constant: an input that never
// changes; "": none.
std::optional<loops::LoopNest> NestByDefault(std::string_view text,
                                             const GpuModel& gpu,
                                             std::string_view constant = "");

// The nest's code for the target; what failed of it is a failed expectation.
std::string PtxOf(const loops::LoopNest& nest, std::string_view target);

struct GridExpectations {
  // How far results may be off, absolutely and relatively: sums of matrices
  // have an order of their own.
  double within = 0;
  // Whether there are products of matrices; what is loaded for them takes one
  // pass over the banks. Shapes that fill few of them need not have any.
  bool has_matrices = true;
  // As of NestByDefault.
  std::string_view constant = "";
  // What the target has beside the device's: "+tf32".
  std::string_view features = "";
  // Of the GPU that schedules are for.
  int64_t processors = 1;
};

// Runs the dispatch under its default schedule beside the evaluator of nests.
// The products of matrices that warps, or warpgroups, made; nothing on a GPU,
// which does not count them. ptx: gets the kernel's text, if not null.
std::optional<uint64_t> ExpectOnGrid(std::string_view text,
                                     std::string* ptx = nullptr,
                                     const GridExpectations& expectations = {});

// As ExpectOnGrid, of a product of f32 by f32 whose two factors are its inputs,
// on a target that allows tf32, with factors of any bits: results are those of
// the evaluator with factors cut off to tf32, but for the order of sums; and
// within 2^-9 of the sum of the products' magnitudes from those without, as
// each factor is less than 2^-10 of itself off.
void ExpectTf32OnGrid(std::string_view text, std::string* ptx = nullptr,
                      const GridExpectations& expectations = {});

}  // namespace ember::jit::ptx

#endif  // EMBER_JIT_PTX_PRODUCTS_TESTING_H_
