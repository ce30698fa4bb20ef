// Imports ONNX models as graphs.
//
//   ImportOptions options;   // --shape x=1x3x?x?
//   options.input_shapes["x"] = {1, 3, std::nullopt, std::nullopt};
//   EMBER_ASSIGN_OR_RETURN(graph::Graph graph,
//                          ImportModel("model.onnx", options));
//
// Every ONNX operator is decomposed into the few operators of the graph.
// Model-local functions are inlined. Loop and Scan become regions. So does an
// If, unless its condition is known when compiling: then its branch is imported
// in place. An If whose branches give different ranks or types is imported with
// all nodes that follow each of them, if that leads to results of the same
// kinds. Otherwise the branch that the rest of the model can use is taken (the
// then branch if both can), and the program checks the condition.
//
// Initializers share the memory of the file. Dims that the model leaves open
// become symbols: the model's name for them ("batch"), or INPUT_AXIS ("x_0");
// they may be 0. If two open dims may broadcast (one of them may be 1), the
// graph is an `if` of two variants: one takes the dims to be equal, the other
// broadcasts as the extents require. A Squeeze without axes drops an open dim
// only if it is 1. The nodes that follow it are imported for both cases, if
// both lead to results of the same rank; otherwise the dim is taken not to be
// 1. Sizes that depend on data become symbols of their own,
// read when the program runs ("_0"). The number of axes and the ranks must be
// known when compiling.
//
// Errors are one line. All unsupported operators of a model are listed at once,
// with node names. Malformed models (missing or duplicate names, cycles, wrong
// attribute types, bad tensors) are refused with what was expected and found.
// Thread-safe.
#ifndef EMBER_FRONTENDS_ONNX_IMPORT_IMPORT_H_
#define EMBER_FRONTENDS_ONNX_IMPORT_IMPORT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/progress.h"
#include "base/status.h"
#include "compiler/graph/builder/builder.h"
#include "compiler/graph/graph.h"
#include "frontends/frontend.h"
#include "frontends/onnx/node/tensor_proto.h"

namespace ember::onnx {

struct ImportOptions {
  // Pins of input dims: one entry per axis; nullopt leaves the axis as the
  // model states it. A dim with a name is pinned wherever the name occurs.
  std::map<std::string, std::vector<std::optional<int64_t>>> input_shapes;
  // Inputs that become constants, so that the graph no longer has them as
  // inputs. They are for models that take shapes, axes or sizes as data
  // (vm-compile --input). An initializer that is also an input gets this value.
  // Only tensors are accepted, and the type must be the input's. A value whose
  // name is that of no input is ignored. If the dims are given as input_shapes,
  // too, they are checked.
  std::map<std::string, TensorBytes> input_values;
  // frontends::ImportOptions::separate_dims.
  bool separate_dims = false;
  // If set, and if the import fails because a fact that must be known when
  // compiling depends on inputs: receives the names of these inputs.
  std::set<std::string>* data_dependent_inputs = nullptr;
  // frontends::ImportOptions::notes.
  std::vector<std::string>* notes = nullptr;
  // See frontends::ImportOptions::progress.
  Progress* progress = nullptr;
  // See frontends::ImportOptions::operation_limit.
  int64_t operation_limit = graph::kOperationLimit;
};

StatusOr<graph::Graph> ImportModel(const std::string& path,
                                   const ImportOptions& options);
StatusOr<graph::Graph> ImportModel(frontends::ModelFile& file,
                                   const ImportOptions& options);
StatusOr<std::vector<frontends::InputInfo>> ModelInputs(
    frontends::ModelFile& file);

// Imports a model from memory. `folder`: where external data may be; if empty,
// external data is refused. `name`: the name of the model in errors.
StatusOr<graph::Graph> ImportModelBytes(std::span<const uint8_t> bytes,
                                        std::string_view folder,
                                        const ImportOptions& options,
                                        std::string_view name = "model");

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_IMPORT_IMPORT_H_
