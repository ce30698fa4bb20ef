// The interface of a model format: a struct of data and function pointers. A
// frontend's folder defines one and adds its line to
// frontends/registry/formats.cc; tools never name a format.
//
//   ModelFile file("model.tflite");
//   EMBER_ASSIGN_OR_RETURN(const graph::ConstantData contents, file.Map());
//   const Format* format = FindFormat(AsText(contents.bytes));  // formats.h
//   EMBER_ASSIGN_OR_RETURN(graph::Graph graph, format->import(file, {}));
//
// Errors are one line that names the object, what was expected and what was
// found. All operators that a frontend does not support are listed in one
// error. Functions are thread-safe for different files. Format structs are
// constants of the program, so pointers to them stay valid.
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
#include "compiler/graph/builder/builder.h"
#include "compiler/graph/graph.h"
#include "frontends/model_file.h"

namespace ember::frontends {

// A tensor whose value is known when compiling, such as an input that the user
// replaces by a constant.
struct KnownTensor {
  DType dtype = DType::kF32;
  std::vector<int64_t> dims;
  // The elements as row-major, little-endian bytes; `owner` keeps the bytes
  // alive.
  std::shared_ptr<const void> owner;
  std::span<const uint8_t> bytes;
  // Set only for a tensor of strings: the strings, one per element. `bytes` is
  // then empty.
  std::optional<std::vector<std::string>> strings;
};

struct ImportOptions {
  // Extents that the user fixes ("pins"), by the input's name: one entry per
  // axis; nullopt leaves the axis as the model says. If other inputs have a dim
  // of the same name, that dim is pinned, too. An input for which the model has
  // a value is an input of the graph only if this map names it.
  std::map<std::string, std::vector<std::optional<int64_t>>> input_shapes;
  // Element types of inputs for which the model gives none. An entry for an
  // input whose type the model gives has no effect.
  std::map<std::string, DType> input_types;
  // Inputs that become constants, so that the graph no longer has them as
  // inputs.
  std::map<std::string, KnownTensor> input_values;
  // If true, two open dims of inputs need not be equal although the model gives
  // them one name: each becomes a symbol of its own.
  bool separate_dims = false;
  // Name of the function to import, if the model has several (TensorFlow Lite's
  // signatures). If empty, it is the model's main function.
  std::string entry;
  // Element type in which a language model keeps keys and values, f16 or bf16;
  // nullopt: f32. Other models have no such state and ignore it.
  std::optional<DType> state_type;
  // Receives a progress event of stage "import" for each operator, before the
  // operator is imported; may be null.
  Progress* progress = nullptr;
  // If not null: receives a line for each fact that the user should know
  // although the import succeeded.
  std::vector<std::string>* notes = nullptr;
  // Largest number of operations of the graph, as GraphBuilder counts them. A
  // model that needs more is refused (ResourceExhausted).
  int64_t operation_limit = graph::kOperationLimit;
};

// An input of a model; inputs are in the model's order.
struct InputInfo {
  std::string name;
  // False if the model does not even state the number of dims, so that
  // ImportOptions::input_shapes must state it.
  bool has_rank = true;
  // True if the model has a value for the input. The value is used, and the
  // graph has no such input, unless the options name it.
  bool has_value = false;
  // False if the model does not give the element type;
  // ImportOptions::input_types may then give it.
  bool has_type = true;
  // True if the model also runs without the input. The graph has the input if
  // ImportOptions::input_shapes has it.
  bool is_optional = false;
};

struct Format {
  // Name in --list-formats and in errors: "onnx".
  std::string_view name;
  // Name of the format for users, with the versions that the frontend reads.
  std::string_view title;
  // Extensions of its files, with the dot, the usual one first: ".onnx".
  std::span<const std::string_view> extensions;
  // For models that are folders: returns the model's file in a folder; empty if
  // the folder is not of this format. Null if models are files.
  std::string (*file_of_folder)(const std::string& folder) = nullptr;
  // True if a file with these contents (all of it) is of the format. For a
  // whole, undamaged model only one format returns true.
  bool (*sniff)(std::string_view contents);
  // Imports the model as a graph. The path of `file` is used to find files
  // beside the model's own, such as its weights.
  StatusOr<graph::Graph> (*import)(ModelFile& file,
                                   const ImportOptions& options);
  // Returns the inputs of the model in `file`. It also works for a model that
  // cannot be imported.
  StatusOr<std::vector<InputInfo>> (*inputs)(ModelFile& file,
                                             const ImportOptions& options);
};

// The logical type (graph::Graph::AddInput) that marks state: an input and a
// result of the same name whose value a model keeps between runs. The value is
// zeros before the first run, then the result of the run before.
inline constexpr std::string_view kStateType = "state";

}  // namespace ember::frontends

#endif  // EMBER_FRONTENDS_FRONTEND_H_
