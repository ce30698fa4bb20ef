// The program of a torch.export archive: the contents of its JSON. Every part
// on which the importer relies is checked.
//
//   EMBER_ASSIGN_OR_RETURN(const Program program, ReadProgram(json));
//   for (const Node& node : program.graph.nodes) node.target;
//
// A node calls an operator ("torch.ops.aten.linear.default"). Its arguments are
// values of the graph, by name, or known values; higher-order operators have
// graphs among their arguments. The signature has an entry for each input and
// output of the graph, in order: it states which inputs and outputs are the
// user's, and which are parameters and buffers.
//
// Supported are schema versions 5 to 8 (PyTorch 2.3 and later). Unknown members
// are ignored, as the schema's minor versions add some.
//
// Source: torch/_export/serde/schema.yaml, version 8.17.
//
// Errors are one line. A value; thread-safe.
#ifndef EMBER_FRONTENDS_TORCH_EXPORT_PROGRAM_H_
#define EMBER_FRONTENDS_TORCH_EXPORT_PROGRAM_H_

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace ember::torch_export {

inline constexpr int64_t kOldestSchema = 5;
inline constexpr int64_t kNewestSchema = 8;

// An extent: a number, or an expression as SymPy prints it ("2*s0 + 1").
struct Extent {
  int64_t number = 0;
  std::string expression;  // The expression; empty if the extent is `number`.
};

struct TensorMeta {
  // PyTorch's number of the element type (ScalarType). The schema numbers types
  // in another way.
  int64_t scalar_type = 0;
  std::vector<Extent> sizes, strides;
  Extent offset;
};

struct Graph;

struct Argument {
  enum class Kind : uint8_t {
    kNone,
    kTensor,  // text: its name
    // An int, float or bool that the graph computes. `text` is the name of the
    // value.
    kSymbol,
    kInteger,
    kFloat,
    kBool,
    kText,
    kDevice,
    kScalarType,  // integer: PyTorch's number
    kOption,      // A memory format or layout, which has no effect on results.
    kGraph,
    kList,
    // A kind of value that Ember's graphs do not have. `text` is its tag, such
    // as "as_complex".
    kOther,
  };
  Kind kind = Kind::kNone;
  std::string text;
  int64_t integer = 0;  // also for kBool
  double number = 0;
  std::vector<Argument> items;
  std::shared_ptr<const Graph> graph;
};

struct NamedArgument {
  std::string name;
  Argument value;
  // Says if an argument is passed by position or by name. Old files do not
  // state it (kUnknown).
  enum class Passing : uint8_t { kUnknown, kPosition, kName };
  Passing passing = Passing::kUnknown;
};

struct Node {
  // Name of the node; if it has none, that of its first result.
  std::string name;
  std::string target;
  std::vector<NamedArgument> inputs;
  std::vector<Argument> outputs;
};

struct Graph {
  std::vector<Argument> inputs, outputs;
  std::vector<Node> nodes;
  std::map<std::string, TensorMeta, std::less<>> tensors;
};

struct InputSpec {
  enum class Kind : uint8_t {
    kUser,
    kParameter,
    kBuffer,
    kTensorConstant,
    // A number or text whose value was fixed when the model was exported.
    kConstant,
    kToken,
    kObject,
  };
  Kind kind = Kind::kUser;
  // Name of the parameter, buffer or constant that the input holds. For an
  // input that the user gives, it is the argument's name.
  std::string name;
};

struct OutputSpec {
  enum class Kind : uint8_t {
    kUser,
    kBufferMutation,  // also for parameters
    kInputMutation,
    kToken,
    kGradient,
  };
  Kind kind = Kind::kUser;
  // Name of the buffer or input whose new contents the output is.
  std::string name;
};

// The smallest and largest value of a symbol; nullopt if there is no bound.
struct Range {
  std::optional<int64_t> least, largest;
};

struct Program {
  Graph graph;
  // For each input of `graph`: which tensor or argument it is.
  std::vector<InputSpec> inputs;
  // For each output of `graph`: a result for the user, or new contents of a
  // buffer or input.
  std::vector<OutputSpec> outputs;
  std::map<std::string, Range, std::less<>> ranges;
  // Names of the results for the user, in order. A result in a dict has its key
  // as the name; others have an empty name. The list is empty if the file does
  // not describe the structure of the results.
  std::vector<std::string> result_names;
};

StatusOr<Program> ReadProgram(const nlohmann::json& json);

// Says where an archive of PyTorch 2.8 or later has the elements of a weight or
// constant.
struct Payload {
  // Name of the archive's entry, without the folder of weights or of constants.
  std::string entry;
  bool is_pickle = false;
  std::optional<TensorMeta> meta;
};
StatusOr<std::map<std::string, Payload, std::less<>>> ReadPayloads(
    const nlohmann::json& json);

}  // namespace ember::torch_export

#endif  // EMBER_FRONTENDS_TORCH_EXPORT_PROGRAM_H_
