// The program of a torch.export archive: what its JSON says, with every part
// that the importer relies on checked.
//
//   EMBER_ASSIGN_OR_RETURN(const Program program, ReadProgram(json));
//   for (const Node& node : program.graph.nodes) node.target;
//
// A node calls an operator ("torch.ops.aten.linear.default") with arguments
// that are values of the graph, by name, or known; higher-order operators have
// graphs among their arguments. Which of the graph's inputs and outputs are the
// user's, and which are parameters and buffers, the signature says, one entry
// for each in their order.
//
// Read are schema versions 5 to 8 (PyTorch 2.3 and later); unknown members are
// left alone, as the schema's minor versions add some.
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
  std::string expression;  // empty: the number
};

struct TensorMeta {
  int64_t scalar_type = 0;  // as PyTorch numbers them, not as the schema does
  std::vector<Extent> sizes, strides;
  Extent offset;
};

struct Graph;

struct Argument {
  enum class Kind : uint8_t {
    kNone,
    kTensor,  // text: its name
    kSymbol,  // an int, float or bool that the graph computes; text: its name
    kInteger,
    kFloat,
    kBool,
    kText,
    kDevice,
    kScalarType,  // integer: as PyTorch numbers them
    kOption,      // of memory formats and layouts, which no result depends on
    kGraph,
    kList,
    kOther,  // text: the tag of what no graph of ours has ("as_complex")
  };
  Kind kind = Kind::kNone;
  std::string text;
  int64_t integer = 0;  // of kBool, too
  double number = 0;
  std::vector<Argument> items;
  std::shared_ptr<const Graph> graph;
};

struct NamedArgument {
  std::string name;
  Argument value;
  // Absent in old files: by position and by name are both possible.
  enum class Passing : uint8_t { kUnknown, kPosition, kName };
  Passing passing = Passing::kUnknown;
};

struct Node {
  std::string name;  // of the node, or its first result
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
    kConstant,  // a number or text that the model was exported with
    kToken,
    kObject,
  };
  Kind kind = Kind::kUser;
  std::string name;  // of the parameter and so on, or the argument
};

struct OutputSpec {
  enum class Kind : uint8_t {
    kUser,
    kBufferMutation,  // and of parameters
    kInputMutation,
    kToken,
    kGradient,
  };
  Kind kind = Kind::kUser;
  std::string name;  // of the buffer or input
};

// The least and largest value of a symbol; nullopt: no such.
struct Range {
  std::optional<int64_t> least, largest;
};

struct Program {
  Graph graph;
  std::vector<InputSpec> inputs;    // as many as graph.inputs
  std::vector<OutputSpec> outputs;  // as many as graph.outputs
  std::map<std::string, Range, std::less<>> ranges;
  // Of the user's outputs, in their order: what the keys of dicts among the
  // results call them; empty where none does. No entries: the file does not
  // say.
  std::vector<std::string> result_names;
};

StatusOr<Program> ReadProgram(const nlohmann::json& json);

// A weight of a newer archive: where it is.
struct Payload {
  std::string entry;  // in the folder of its kind
  bool is_pickle = false;
  std::optional<TensorMeta> meta;
};
StatusOr<std::map<std::string, Payload, std::less<>>> ReadPayloads(
    const nlohmann::json& json);

}  // namespace ember::torch_export

#endif  // EMBER_FRONTENDS_TORCH_EXPORT_PROGRAM_H_
