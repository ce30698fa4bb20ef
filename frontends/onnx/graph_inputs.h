// Types that a model states, of its inputs above all: element types, extents,
// symbols for open dims, pins from the user.
#ifndef EMBER_FRONTENDS_ONNX_GRAPH_INPUTS_H_
#define EMBER_FRONTENDS_ONNX_GRAPH_INPUTS_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "compiler/graph/graph.h"
#include "frontends/onnx/import.h"
#include "frontends/onnx/sequence_type.h"
#include "frontends/onnx/tensor.h"
#include "third_party/onnx/onnx.pb.h"

namespace ember::onnx {

struct InputType {
  std::string name;
  graph::TensorType type;
  int32_t carried_type = 0;  // see Tensor::carried_type
  // Of a sequence or optional: then `type` is of no use.
  std::optional<SequenceType> sequence;
};

// The graph's inputs, in order, with pinned dims substituted: those that are no
// initializers, or that the options name.
StatusOr<std::vector<InputType>> ReadInputs(const GraphProto& graph,
                                            const ImportOptions& options);

// Whether the value can be of the type, as far as that states an element type
// and a rank of a tensor.
bool FitsType(const TypeProto& type, const Tensor& value);

// An error if the name of an input or output (`what`) would not stay on a line.
Status CheckName(std::string_view what, const std::string& name);

// Letters, digits and '_', not starting with a digit.
std::string ToIdentifier(std::string_view text);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_GRAPH_INPUTS_H_
