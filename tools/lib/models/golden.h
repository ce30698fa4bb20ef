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
  // Name of the model's function to run (LoadOptions::entry).
  std::string entry = "";
  // True: the data sets are consecutive runs of one model that keeps state.
  // False: each data set starts with the model's initial state.
  bool carries_state = false;
};

struct GoldenResult {
  bool passed = true;
  // Largest absolute difference over all outputs of all data sets.
  double max_absolute = 0;
  double max_relative = 0;
  double milliseconds =
      0;  // Median time of some runs with the first data set, after a warm-up.
  // Number of calls of dispatches in all runs, and the number of these calls
  // that ran on a device that is not the host.
  int64_t calls = 0, device_calls = 0;
  int64_t kernel_calls = 0;  // number of calls of dispatches that ran a kernel
  // The first difference if the case failed, otherwise a note about how the
  // model was compiled.
  std::string note;

  // Writes the result as one line of text, which a child process sends through
  // a pipe. Parse reads it.
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
  std::string tier = "auto";  // Name of a tier as in tools/lib/models/tier.h.
  // Flags for checks of kernels. The case fails if a check finds a wrong
  // kernel.
  KernelCheckFlags checks;
  // Seconds for timed runs. At least 3 and at most 200 runs are timed.
  double seconds = 1;
  // If not null, this provider makes the kernels instead of the tier. It is
  // asked for the kernel of a dispatch just before the dispatch first runs.
  std::shared_ptr<vm::KernelProvider> provider;
  // If not null, this function makes the module and tiering to run from the
  // compiled module, instead of opening the tier. If it fails, the case fails
  // with its error.
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
