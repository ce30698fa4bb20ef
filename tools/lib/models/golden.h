// Compares one model with recorded data sets. Each set is a folder with
// input_0.pb … and output_0.pb … (ONNX TensorProtos).
//
//   EMBER_ASSIGN_OR_RETURN(GoldenResult result, RunGolden(golden, {}));
//
// Errors: the model cannot run at all. Results that differ are not an error;
// the result is then not `passed`.
#ifndef EMBER_TOOLS_LIB_MODELS_GOLDEN_H_
#define EMBER_TOOLS_LIB_MODELS_GOLDEN_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "tools/lib/calls/kernel_checks.h"
#include "tools/lib/tensors/compare.h"
#include "vm/runtime/dispatch/tiering.h"
#include "vm/runtime/kernel_provider.h"
#include "vm/runtime/module.h"

namespace ember::tools {

struct GoldenCase {
  std::string name;
  std::string model;
  std::vector<std::string> data_sets;
  Tolerance tolerance;
  // name of the function to run; see LoadOptions::entry
  std::string entry = "";
  // True: the sets are consecutive runs of one model that keeps state. False:
  // each set starts with the model's initial state.
  bool carries_state = false;
};

struct GoldenResult {
  bool passed = true;
  // largest absolute difference over all outputs of all sets
  double max_absolute = 0;
  double max_relative = 0;
  double milliseconds =
      0;  // Median milliseconds of a few runs of the first set after a warm-up.
  // Number of calls of dispatches in all runs, and how many of them a device
  // that is not the host ran.
  int64_t calls = 0, device_calls = 0;
  int64_t kernel_calls = 0;  // number of calls that ran compiled code
  std::string note;  // the first difference, or how the model was compiled

  // Writes the result as one line, for a pipe.
  std::string Serialize() const;
  static StatusOr<GoldenResult> Parse(const std::string& text);
};

struct PreparedModule {
  std::shared_ptr<const vm::Module> module;
  std::shared_ptr<vm::Tiering> tiering;
};

struct GoldenOptions {
  int64_t threads = 1;
  std::string device = "cpu";
  std::string tier = "auto";  // name of a tier, see tools/lib/models/tier.h
  // flags for checks of kernels; a kernel that is wrong fails the case
  KernelCheckFlags checks;
  // seconds for the timed runs, of which there are 3 to 200
  double seconds = 1;
  // Provider that is used in place of a tier, or null: it is asked for a kernel
  // before each dispatch first runs.
  std::shared_ptr<vm::KernelProvider> provider;
  // Function that is used in place of a tier, or null. It returns the module
  // that runs in place of a compiled model. Its errors are errors of the case.
  std::function<StatusOr<PreparedModule>(
      const std::shared_ptr<const vm::Module>&)>
      prepare;
};

// Runs a case. If a model only compiles with known shapes, it is compiled again
// for the shapes of each data set.
StatusOr<GoldenResult> RunGolden(const GoldenCase& golden,
                                 const GoldenOptions& options);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_MODELS_GOLDEN_H_
