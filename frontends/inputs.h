// What frontends do alike with a model's inputs: pinned dims, inputs whose
// values are given when compiling, and names of open dims.
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
#include "compiler/graph/builder.h"
#include "frontends/frontend.h"

namespace ember::frontends {

struct ModelDim {
  int64_t extent = 0;
  // Not empty: the dim is open, and has this name, which other inputs' dims may
  // have, too (then they are equal).
  std::string symbol = "";
  // Whether the extent is how the model was saved rather than what it needs: a
  // pin may be another.
  bool may_differ = false;
  // The dim is an expression of symbols that name other dims ("2*N + 1"). Where
  // pins say what it is, it is that, else it is open and the caller relates it
  // to the others. A pin of it pins the symbol of "a*N + b", too.
  std::optional<graph::Dim> expression = std::nullopt;
};

// An open dim of an input that the model gives no name: INPUT_AXIS.
ModelDim OpenDim(std::string_view input, size_t axis);

struct ModelInput {
  std::string name;
  DType dtype = DType::kF32;
  // Nullopt: the model does not say how many dims there are; the options must.
  std::optional<std::vector<ModelDim>> dims;
  std::string logical_type = "";
};

// A value for each input, in their order. Errors: names that no input has, pins
// that contradict the model or each other, given values of another type.
StatusOr<std::vector<graph::Value*>> AddInputs(
    const std::vector<ModelInput>& inputs, const ImportOptions& options,
    graph::GraphBuilder& builder);

// Letters, digits and '_', starting with a letter: a name of a dim.
std::string ToIdentifier(std::string_view text);

}  // namespace ember::frontends

#endif  // EMBER_FRONTENDS_INPUTS_H_
