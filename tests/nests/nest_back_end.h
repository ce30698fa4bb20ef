// The back ends of loop nests, a row for each back end. One suite
// (conformance_test.cc) and all text cases (tests/cases) check every back end
// in the same way by them.
//
//   for (const NestBackEnd& back_end : NestBackEnds()) {
//     const std::string missing = back_end.missing();  // "no Vulkan device: …"
//     Contents buffers = …;                          // inputs and outputs
//     Status status = back_end.run(nest, parameters, buffers);
//   }
//
// A new back end is a file with these functions and a row in nest_back_ends.cc.
// Rows never change; their functions are for one thread at a time.
#ifndef EMBER_TESTS_NESTS_NEST_BACK_END_H_
#define EMBER_TESTS_NESTS_NEST_BACK_END_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"
#include "jit/loops/analysis/matrix_operation.h"
#include "jit/loops/loop_nest.h"
#include "jit/schedule/core/schedule.h"

namespace ember::nests {

// The bytes of each input and output of a nest, in order.
using Contents = std::vector<std::vector<uint8_t>>;

struct NestBackEnd {
  std::string_view name;
  std::string_view doc;
  // True for a device, which runs invocations in parallel. It only runs nests
  // that are verified and free of data races, and declines what it does not
  // support. Its errors have the evaluator's code but not its message, and a
  // zero may have either sign. Other back ends do all of that as the evaluator
  // does.
  bool is_device = false;
  // True if loading a signalling NaN of f16 may turn it into a quiet NaN.
  bool quietens_f16 = false;
  // Two numbers of lanes for vectors in arithmetic cases: one that the
  // hardware's vectors have, and one that no hardware has.
  std::array<int64_t, 2> lanes = {16, 7};
  // Number of arithmetic cases that are put into one nest.
  size_t cases_at_once = 1;
  // The suite runs one arithmetic case in this many, and text cases about one
  // nest in this many, where compiling all of them takes minutes.
  // EMBER_TEST_ALL_CASES=1 runs all.
  size_t case_share = 1;
  // False if the hardware has no f64. The suite then leaves out arithmetic
  // cases with it, and the back end declines nests with it.
  bool has_f64 = true;
  // False if the hardware has no integers of 64 bits, likewise.
  bool has_wide_integers = true;
  // Number of random nests in each run of the suite.
  uint64_t random_nests = 16;
  // Returns "", or what this machine lacks to run the back end's code.
  std::string (*missing)() = nullptr;
  // Returns where nests run: "this machine", or the name of a processor or
  // device.
  std::string (*machine)() = nullptr;
  // True if subnormal numbers of the type are kept; otherwise they may become
  // zero.
  bool (*keeps_subnormals)(DType type) = nullptr;
  // Returns the products of matrices that the back end supports; nullopt means
  // all.
  std::optional<std::vector<loops::MatrixType>> (*matrices)() = nullptr;
  // Chooses the default schedule of the back end's hardware.
  Status (*schedule)(schedule::Schedule& schedule) = nullptr;
  // Compiles and runs the nest; `buffers` then holds its inputs and outputs. It
  // also fails if a validator of the code, or guarded memory around the
  // buffers, detects a mistake. kUnimplemented: the back end declines the nest.
  Status (*run)(const loops::LoopNest& nest,
                const std::vector<int64_t>& parameters,
                Contents& buffers) = nullptr;
  // Returns a text of the resources (such as shared memory) that the nest's
  // code needs on a target, one line for each phase. It is computed without a
  // device. Null if the back end cannot say it.
  StatusOr<std::string> (*figures)(const loops::LoopNest& nest,
                                   std::string_view target) = nullptr;
};

std::span<const NestBackEnd> NestBackEnds();

}  // namespace ember::nests

#endif  // EMBER_TESTS_NESTS_NEST_BACK_END_H_
