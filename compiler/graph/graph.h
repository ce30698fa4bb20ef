// The graph: SSA values typed tensor<dtype, [dims]>, produced by operators.
// Frontends make graphs and passes rewrite them.
//
//   graph @mlp(%x: f32[N, 4]) -> (%y) {
//     %w: f32[4, 2] = constant() {value = [1, 0, 0.5, 2, -1, 0, 3, 4]}
//     %h: f32[N, 2] = contract(%x, %w) {spec = "ik,kj->ij"}
//     %zero: f32[] = constant() {value = [0]}
//     %y: f32[N, 2] = maximum(%h, %zero)
//   }
//
// Control flow is operations with regions: closed graphs of their own, whose
// inputs are the operands passed to them (operators.h: if, loop). A region uses
// the symbols of the dims around it freely.
//
// Ownership: a Graph owns its inputs and operations, an Operation its results;
// pointers stay valid until the operation is erased, also when the Graph is
// moved. Definitions come before uses in the order of operations.
// Thread-compatible.
//
// Errors: wrong operands, attributes and shapes, which a model can cause, are a
// Status of Add, AddInput, InferTypes or SubstituteSymbols. Misuse of the
// rewriting functions fails a check.
#ifndef EMBER_COMPILER_GRAPH_GRAPH_H_
#define EMBER_COMPILER_GRAPH_GRAPH_H_

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"
#include "compiler/graph/dim.h"

namespace ember::graph {

struct OperatorRecord;  // defined in compiler/graph/operators.h
class Operation;
class Graph;

struct TensorType {
  DType dtype = DType::kF32;
  Shape shape;

  int rank() const { return static_cast<int>(shape.size()); }
  bool operator==(const TensorType&) const = default;
};

// Bytes of a constant, shared between copies; row-major, little-endian.
struct ConstantData {
  std::shared_ptr<const void> owner;
  std::span<const uint8_t> bytes;

  static ConstantData Copy(std::span<const uint8_t> bytes);
};

using Attribute = std::variant<int64_t, double, std::string, DType,
                               std::vector<int64_t>, Shape, ConstantData>;

// The attributes of an operation: a few values with names, in the order in
// which the operator's record declares them.
class Attributes {
 public:
  Attributes() = default;
  Attributes(std::initializer_list<std::pair<std::string, Attribute>> entries)
      : entries_(entries) {}
  const Attribute* Find(std::string_view name) const;
  void Set(std::string_view name, Attribute value);
  // Returns the attribute with this name. The verifier guarantees that the
  // attribute exists with this type.
  template <typename T>
  const T& Get(std::string_view name) const {
    const Attribute* attribute = Find(name);
    EMBER_CHECK(attribute != nullptr && std::holds_alternative<T>(*attribute))
        << name;
    return std::get<T>(*attribute);
  }
  std::span<const std::pair<std::string, Attribute>> entries() const {
    return entries_;
  }

 private:
  std::vector<std::pair<std::string, Attribute>> entries_;
};

class Value {
 public:
  const TensorType& type() const { return type_; }
  const Shape& shape() const { return type_.shape; }
  DType dtype() const { return type_.dtype; }
  int rank() const { return type_.rank(); }
  // Returns the operation that makes the value. Null for a graph input.
  Operation* producer() const { return producer_; }
  int result_index() const { return result_index_; }
  // Returns the operations that use the value, one entry per use as an operand
  // (an operation that uses the value twice appears twice).
  std::span<Operation* const> users() const { return users_; }
  bool is_graph_output() const { return output_uses_ > 0; }
  bool unused() const { return users_.empty() && output_uses_ == 0; }
  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }

 private:
  friend class Graph;
  friend class Operation;
  TensorType type_;
  // The value's name in printed graphs. If several values have the same name,
  // printing adds numbers.
  std::string name_;
  Operation* producer_ = nullptr;
  int result_index_ = 0;
  std::vector<Operation*> users_;
  int output_uses_ = 0;
};

class Operation {
 public:
  Operation();
  ~Operation();
  const OperatorRecord& record() const { return *record_; }
  // Returns the name of the operation's operator.
  std::string_view name() const;
  std::span<Value* const> operands() const { return operands_; }
  Value* operand(int index) const { return operands_[index]; }
  int operand_count() const { return static_cast<int>(operands_.size()); }
  std::span<const std::unique_ptr<Value>> results() const { return results_; }
  Value* result(int index = 0) const { return results_[index].get(); }
  const Attributes& attributes() const { return attributes_; }
  // Returns the regions, one for each name in the operator record's `regions`,
  // in that order.
  std::span<const std::unique_ptr<Graph>> regions() const { return regions_; }
  // The model's node from which this operation comes, e.g. "Conv_12 (Conv)";
  // origins of merged operations are joined with '+'.
  const std::string& origin() const { return origin_; }
  void set_origin(std::string origin) { origin_ = std::move(origin); }

 private:
  friend class Graph;
  const OperatorRecord* record_ = nullptr;
  std::vector<Value*> operands_;
  std::vector<std::unique_ptr<Value>> results_;
  std::vector<std::unique_ptr<Graph>> regions_;
  Attributes attributes_;
  std::string origin_;
  // Iterator to this operation in the graph's list, with which it is moved and
  // erased.
  std::list<std::unique_ptr<Operation>>::iterator position_;
};

// Largest rank; the dispatch IR has the same limit.
inline constexpr int kMaxRank = 16;

// Returns an error unless the rank is within the limit, every dim is valid,
// constant dims are at least 0 and a constant size in bytes fits 64 bits.
Status CheckType(const TensorType& type);
// Returns the type as a text such as "f32[N, 3]".
std::string ToString(const TensorType& type);

using Metadata = std::map<std::string, std::string, std::less<>>;

class Graph {
 public:
  explicit Graph(std::string name = "main") : name_(std::move(name)) {}
  Graph(Graph&&) = default;
  Graph& operator=(Graph&&) = default;

  const std::string& name() const { return name_; }
  std::span<Value* const> inputs() const { return input_pointers_; }
  std::span<Value* const> outputs() const { return outputs_; }
  std::span<const std::string> output_names() const { return output_names_; }
  std::span<const std::string> input_logical_types() const {
    return input_logical_types_;
  }
  std::span<const std::string> output_logical_types() const {
    return output_logical_types_;
  }
  // Strings that constants of the logical type "string" refer to: handle k is
  // string k. All are different.
  const std::vector<std::string>& strings() const { return strings_; }
  void set_strings(std::vector<std::string> strings) {
    strings_ = std::move(strings);
  }
  // Key-value texts that the model's maker added for the user of the module;
  // they do not influence results. A region has none. base/metadata_rules.h has
  // the rules; the verifier checks them.
  const Metadata& metadata() const { return metadata_; }
  void set_metadata(Metadata metadata) { metadata_ = std::move(metadata); }
  // Returns the operations in definition order. Use Operations(), a copy of the
  // pointers, to iterate while rewriting.
  const std::list<std::unique_ptr<Operation>>& operations() const {
    return operations_;
  }
  std::vector<Operation*> Operations() const;

  // Adds an input. Errors: the rank is above kMaxRank, a dim is negative or
  // invalid, or the bytes overflow 64 bits. `logical_type` is the meaning of
  // the elements if the dtype only stores them ("string", "f8e4m3fn"), for the
  // user of the module; empty if there is no other meaning.
  StatusOr<Value*> AddInput(std::string name, TensorType type,
                            std::string logical_type = "");
  // Makes the value a result of the graph under this name. A value may be
  // returned several times.
  void AddOutput(std::string name, Value* value, std::string logical_type = "");

  // Adds an operation at the end (before == nullptr) or before another, with
  // result types inferred. Errors: wrong operands, attributes or regions, in
  // one line naming the operator and `origin`.
  StatusOr<Operation*> Add(const OperatorRecord& record,
                           std::vector<Value*> operands, Attributes attributes,
                           std::string origin,
                           const Operation* before = nullptr,
                           std::vector<Graph> regions = {});

  // Replaces `from` by `to` wherever it is an operand or an output of the
  // graph.
  void ReplaceAllUses(Value* from, Value* to);
  // Replaces one operand of one operation; result types are not inferred again
  // (see InferTypes).
  void SetOperand(Operation* operation, int index, Value* value);
  // Sets an attribute of an operation; result types are not inferred again (see
  // InferTypes).
  void SetAttribute(Operation* operation, std::string_view name,
                    Attribute value);
  void SetOutput(int index, Value* value);
  // Removes a captured value: operand number `operand` of the operation, and
  // input number `input` of each of its regions. No region may use that input.
  void DropCapture(Operation* operation, int operand, int input);
  // Erases an operation whose results are unused.
  void Erase(Operation* operation);
  // Infers every result type again, in order, those of regions first. Call it
  // after inputs or attributes changed.
  Status InferTypes();
  // Moves `operation` right before `before`. The caller keeps definitions
  // before uses.
  void MoveBefore(Operation* operation, const Operation* before);
  // Pins symbols of dims everywhere (types and attributes), e.g. {"N": 1};
  // names as given to Dim::Symbol. Unknown names change nothing. After an error
  // the graph must not be used.
  Status SubstituteSymbols(const std::map<std::string, Dim>& replacements);

 private:
  std::string name_;
  std::vector<std::unique_ptr<Value>> inputs_;
  std::vector<Value*> input_pointers_;
  std::vector<Value*> outputs_;
  std::vector<std::string> output_names_;
  std::vector<std::string> input_logical_types_, output_logical_types_;
  std::vector<std::string> strings_;
  Metadata metadata_;
  std::list<std::unique_ptr<Operation>> operations_;
};

}  // namespace ember::graph

#endif  // EMBER_COMPILER_GRAPH_GRAPH_H_
