// Common handling of a model's inputs in all frontends: pinned dims, inputs
// whose values are given when compiling, and names of open dims.
//
//   std::vector<ModelInput> inputs{{.name = "image", .dtype = DType::kF32,
//       .dims = {{.symbol = "N"}, {.extent = 224}, {.extent = 224}, {3}}}};
//   EMBER_ASSIGN_OR_RETURN(std::vector<graph::Value*> values,
//                          AddInputs(inputs, options, builder));
//
// Errors are one line that names the input. Not thread-safe.
#ifndef EMBER_FRONTENDS_INPUTS_H_
#define EMBER_FRONTENDS_INPUTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"
#include "compiler/graph/builder/builder.h"
#include "frontends/frontend.h"

namespace ember::frontends {

struct ModelDim {
  int64_t extent = 0;
  // If not empty, the dim is open and has this name. Dims with the same name,
  // of other inputs too, are equal.
  std::string symbol = "";
  // True if the extent is only the one with which the model was saved. The user
  // may then fix another one, or leave the dim open
  // (ImportOptions::input_shapes).
  bool may_differ = false;
  // Set if the dim is an expression of symbols that name other dims ("2*N +
  // 1"). If pins determine its value, it has that value; otherwise it is open,
  // and the caller relates it to the other dims. A pin of the dim also pins the
  // symbol of "a*N + b".
  std::optional<graph::Dim> expression = std::nullopt;
};

// Returns an open dim for an input's axis to which the model gives no name. The
// dim's name is INPUT_AXIS, such as x_0.
ModelDim OpenDim(std::string_view input, size_t axis);

struct ModelInput {
  std::string name;
  DType dtype = DType::kF32;
  // The input's dims. Nullopt if the model does not state their number;
  // ImportOptions::input_shapes must then state it.
  std::optional<std::vector<ModelDim>> dims;
  std::string logical_type = "";
};

// Returns a value for each input, in their order. Errors: names that no input
// has, pins that contradict the model or each other, given values of another
// type than the input.
StatusOr<std::vector<graph::Value*>> AddInputs(std::vector<ModelInput> inputs,
                                               const ImportOptions& options,
                                               graph::GraphBuilder& builder);

// Returns the error for a dim that the model fixes, and for which the user gave
// another extent, or '?' (nullopt). `input` is the beginning of the line, such
// as "input 'x'".
Status FixedDimError(std::string_view input, size_t axis, int64_t fixed,
                     std::optional<int64_t> found);

// Converts text to a name of a dim: letters, digits and '_', starting with a
// letter.
std::string ToIdentifier(std::string_view text);

}  // namespace ember::frontends

#endif  // EMBER_FRONTENDS_INPUTS_H_
