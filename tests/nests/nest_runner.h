// What runs loop nests: a row for each back end, so that one suite
// (conformance_test.cc) and all text cases (tests/cases) check every back end
// in the same way.
//
//   for (const NestRunner& runner : NestRunners()) {
//     const std::string missing = runner.missing();  // "no Vulkan device: …"
//     Contents buffers = …;                          // inputs and outputs
//     Status status = runner.run(nest, parameters, buffers);
//   }
//
// A new back end is a file with these functions and a row in nest_runners.cc.
// Rows never change; their functions are for one thread at a time.
#ifndef EMBER_TESTS_NESTS_NEST_RUNNER_H_
#define EMBER_TESTS_NESTS_NEST_RUNNER_H_

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
#include "jit/loops/loop_nest.h"
#include "jit/loops/matrix_operation.h"
#include "jit/schedule/core/schedule.h"

namespace ember::nests {

// Bytes of inputs and outputs, in order.
using Contents = std::vector<std::vector<uint8_t>>;

struct NestRunner {
  std::string_view name;
  std::string_view doc;
  // A device runs invocations side by side, so that it takes only what the
  // verifier proved and what has no races; it declines what it lacks; its
  // errors have the evaluator's code and not its words; it may give a zero of
  // either sign. What is not a device does all of that as the evaluator does.
  bool is_device = false;
  // A signalling NaN of f16 may become a quiet one where it is loaded.
  bool quietens_f16 = false;
  // How many lanes the vectors have that arithmetic is tested in: a number that
  // the hardware's vectors have, and one that no hardware's have.
  std::array<int64_t, 2> lanes = {16, 7};
  // How many cases of arithmetic it runs as one nest.
  size_t cases_at_once = 1;
  // How many random nests each run of the suite draws.
  uint64_t random_nests = 16;
  // Empty, or what this machine lacks to run it.
  std::string (*missing)() = nullptr;
  // What nests run on: "this machine", or the name of a processor or device.
  std::string (*place)() = nullptr;
  // Otherwise subnormal numbers of the type may be taken for zero.
  bool (*keeps_subnormals)(DType type) = nullptr;
  // The products of matrices that it runs; nothing: any.
  std::optional<std::vector<loops::MatrixType>> (*matrices)() = nullptr;
  // Chooses the default schedule of its hardware.
  Status (*schedule)(schedule::Schedule& schedule) = nullptr;
  // Compiles and runs the nest; `buffers` then holds what it left in inputs and
  // outputs. Also fails where a validator of the code, or memory around the
  // buffers, shows a mistake. kUnimplemented: the back end declines the nest.
  Status (*run)(const loops::LoopNest& nest,
                const std::vector<int64_t>& parameters,
                Contents& buffers) = nullptr;
  // What the nest's code for a target takes, a line for each phase; needs no
  // device. Null: nothing is known.
  StatusOr<std::string> (*figures)(const loops::LoopNest& nest,
                                   std::string_view target) = nullptr;
};

std::span<const NestRunner> NestRunners();

}  // namespace ember::nests

#endif  // EMBER_TESTS_NESTS_NEST_RUNNER_H_
