// What a model format is to everything that takes a model file: a row of data
// and functions. A frontend's folder defines one and adds its line to
// frontends/formats.cc; tools never name a format.
//
//   const Format* format = FindFormat(contents, "model.tflite");  // formats.h
//   EMBER_ASSIGN_OR_RETURN(graph::Graph graph,
//                          format->import("model.tflite", {}));
//
// Errors are one line that names the object, what was expected and what was
// found; all operators that a frontend does not know are listed in one.
// Functions are thread-safe. Rows are constants of the program.
#ifndef EMBER_FRONTENDS_FRONTEND_H_
#define EMBER_FRONTENDS_FRONTEND_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/progress.h"
#include "base/status.h"
#include "compiler/graph/builder.h"
#include "compiler/graph/graph.h"

namespace ember::frontends {

// A tensor that is known when compiling.
struct KnownTensor {
  DType dtype = DType::kF32;
  std::vector<int64_t> dims;
  // Row-major, little-endian; `owner` keeps them.
  std::shared_ptr<const void> owner;
  std::span<const uint8_t> bytes;
  // Of a tensor of strings, one per element; then there are no bytes.
  std::optional<std::vector<std::string>> strings;
};

struct ImportOptions {
  // Pins of input dims: one entry per axis, nullopt leaves the axis as the
  // model says. A dim that occurs elsewhere is pinned there, too.
  std::map<std::string, std::vector<std::optional<int64_t>>> input_shapes;
  // Element types of inputs of which the model does not say one. For others
  // they have no effect.
  std::map<std::string, DType> input_types;
  // Inputs that become constants, and so are no inputs of the graph any more.
  std::map<std::string, KnownTensor> input_values;
  // Which of the functions that the model offers, where the format has several
  // (TensorFlow Lite's signatures). Empty: the model's main one.
  std::string entry;
  // Told of each operator before it is imported, in stage "import"; null:
  // nobody.
  Progress* progress = nullptr;
  // How many operations the graph may be made of, as GraphBuilder counts them;
  // a model that takes more is refused (ResourceExhausted).
  int64_t operation_limit = graph::kOperationLimit;
};

// What a model takes, in its order.
struct InputInfo {
  std::string name;
  // False: the model does not even say how many dims it has, so that
  // ImportOptions::input_shapes must.
  bool has_rank = true;
  // False: the model does not say the element type; ImportOptions::input_types
  // may.
  bool has_type = true;
  // True: the model runs without it, too. It is an input where
  // ImportOptions::input_shapes has it.
  bool is_optional = false;
};

struct Format {
  // "onnx": how --list-formats and errors call it.
  std::string_view name;
  // What a user knows it as, and which versions are read.
  std::string_view title;
  // Of its files, with the dot, the usual one first: ".onnx".
  std::span<const std::string_view> extensions;
  // Of models that are folders: the file in one that is the model's; empty for
  // a folder that is none of this format. Null: its models are files.
  std::string (*file_of_folder)(const std::string& folder) = nullptr;
  // Whether a file with these contents (all of it) is of the format. Two
  // formats never both say so of a whole, undamaged model.
  bool (*sniff)(std::string_view contents);
  // The path is as the system takes it.
  StatusOr<graph::Graph> (*import)(const std::string& path,
                                   const ImportOptions& options);
  // The model need not be one that can be imported.
  StatusOr<std::vector<InputInfo>> (*inputs)(const std::string& path,
                                             const ImportOptions& options);
};

// The input and the result of one name, with this logical type
// (graph::Graph::AddInput), are state that a model keeps from run to run: zeros
// before the first, then what the run before gave.
inline constexpr std::string_view kStateType = "state";

}  // namespace ember::frontends

#endif  // EMBER_FRONTENDS_FRONTEND_H_
