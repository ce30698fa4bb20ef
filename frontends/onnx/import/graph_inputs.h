// Types that a model states, mainly those of its inputs: element types,
// extents, symbols for open dims, pins from the user.
#ifndef EMBER_FRONTENDS_ONNX_IMPORT_GRAPH_INPUTS_H_
#define EMBER_FRONTENDS_ONNX_IMPORT_GRAPH_INPUTS_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "compiler/graph/graph.h"
#include "frontends/onnx/import/import.h"
#include "frontends/onnx/node/sequence_type.h"
#include "frontends/onnx/node/tensor.h"
#include "third_party/onnx/onnx.pb.h"

namespace ember::onnx {

struct InputType {
  std::string name;
  graph::TensorType type;
  int32_t carried_type = 0;  // see Tensor::carried_type
  // Set if the input is a sequence or an optional; `type` is then unused.
  std::optional<SequenceType> sequence;
};

// Returns the inputs of the graph, in order, with the user's pins applied.
// Initializers are not among them unless the options name them.
StatusOr<std::vector<InputType>> ReadInputs(const GraphProto& graph,
                                            const ImportOptions& options);

// True if the value can be of the type, as far as the type states an element
// type and a rank of a tensor.
bool FitsType(const TypeProto& type, const Tensor& value);

// Returns an error if the name of an input or output (`what`) contains a line
// break.
Status CheckName(std::string_view what, const std::string& name);

// Converts a name of the model to an identifier, for the name of a dim:
// letters, digits and '_', starting with a letter.
std::string ToIdentifier(std::string_view text);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_IMPORT_GRAPH_INPUTS_H_
