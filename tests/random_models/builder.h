// A growing graph of a random model. Recipes (recipe.h) ask for operands, which
// are existing values or new ones, and add nodes. Tier 0 runs each group of
// nodes at once, so that the next recipe knows all extents and contents: shapes
// that depend on data, indices that must be in range and values that would
// overflow need no second set of rules.
//
//   Value x = b.Pick("fdh", 1, 5);
//   b.Node("Softmax", {x.name}, {{"axis", b.Axis(x)}});
//   b.Flush();
//
// Nodes that the engine refuses are removed, and kept as a model of their own
// (ModelState::refused). Not thread-safe.
#ifndef EMBER_TESTS_RANDOM_MODELS_BUILDER_H_
#define EMBER_TESTS_RANDOM_MODELS_BUILDER_H_

#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "frontends/onnx/testing/model_builder.h"
#include "tests/random_models/model.h"
#include "tests/random_models/random.h"
#include "tests/random_models/run_ours.h"

namespace ember::tests {

using Dims = std::vector<int64_t>;
using Names = std::vector<std::string>;
using Attributes = std::vector<onnx::TestAttribute>;

struct Value {
  std::string name;
  int32_t type = 0;  // element type, as ONNX's number
  vm::Tensor tensor;
  bool is_constant = false;
  double low = 0, high = 0;  // Smallest and largest element of the value.
  bool is_finite = true;

  const Dims& dims() const { return tensor.dims; }
  int64_t rank() const { return static_cast<int64_t>(tensor.dims.size()); }
  int64_t count() const;
};

// Range of elements, both ends included. If `loose` is true, an existing value
// may have elements outside of the range.
struct Range {
  double low = -2, high = 2;
  bool loose = true;
};

enum class Source : uint8_t { kAny, kConstant, kInput };

struct Refused {
  RandomModel model;
  std::string message;
  std::string recipe;
};

// State that the main graph and its subgraphs share.
struct ModelState {
  // Inputs and constants of the main graph, including those that subgraphs
  // asked for and use.
  std::vector<Value> shared;

  explicit ModelState(uint64_t seed, Engine& e) : random(seed), engine(e) {}

  Random random;
  Engine& engine;
  int opset = 21;
  int ml_opset = 3;
  int64_t most_elements = 2048;
  // Probability that a new operand is a constant and not an input.
  double constants = 0.5;
  int next_name = 0;
  onnx::GraphProto main;
  NamedTensors inputs;
  std::vector<Refused> refused;
  // Operators of the nodes that were added, as "domain::name".
  std::set<std::string> operators;
};

class Builder {
 public:
  // Makes an empty graph. `outer` is null for the main graph. A subgraph's
  // nodes may use the values of `outer`.
  Builder(ModelState& state, Builder* outer);

  Random& random() { return state_.random; }
  int opset() const { return state_.opset; }
  ModelState& state() { return state_; }

  // Returns ONNX's number of a type by its letter. Lists of types are letters,
  // and a letter is drawn as often as it occurs: f f32, d f64, h f16, b bf16, c
  // i8, s i16, i i32, l i64, C u8, S u16, I u32, L u64, ? bool, t string.
  static int32_t TypeOf(char letter);
  int32_t Type(std::string_view letters);

  int64_t Extent();
  Dims Shape(int64_t rank);
  // Returns a random axis, sometimes a negative one if the opset allows it.
  int Axis(const Value& value);

  // Returns an existing or a new value with this type and these dims.
  Value Operand(int32_t type, const Dims& dims, Range range = {},
                Source source = Source::kAny);
  // Returns an existing or a new value of one of the types in `letters`, with
  // any dims, whose number is in the given range. New values have few dims.
  Value Pick(std::string_view letters, int64_t least_rank = 0,
             int64_t most_rank = 5, Range range = {});
  Value New(int32_t type, const Dims& dims, Range range = {},
            Source source = Source::kAny);
  // Adds a constant with these integers, for operands that the import must
  // know. Returns its name.
  std::string Integers(const std::vector<int64_t>& values,
                       int32_t type = onnx::TensorProto::INT64);
  std::string Integer(int64_t value, int32_t type = onnx::TensorProto::INT64);
  std::string Constant(vm::Tensor tensor);
  std::string Scalar(int32_t type, double value);

  // Add a node with one result, or with several, and return the names of the
  // results.
  std::string Node(const std::string& op, const Names& inputs,
                   const Attributes& attributes = {},
                   const std::string& domain = "");
  Names Nodes(const std::string& op, const Names& inputs, int results,
              const Attributes& attributes = {},
              const std::string& domain = "");
  // Returns the last added node. Through it, attributes of kinds that
  // Attributes lacks are added.
  onnx::NodeProto& last() { return pending_.back(); }
  // Excludes a result that is not a tensor (such as a sequence) from being
  // drawn as an operand.
  void Hide(const std::string& name) { hidden_.insert(name); }
  std::string NewName(const char* prefix);

  // Runs the nodes that were added since the last call. Returns false if the
  // engine refused them; they are removed then.
  bool Flush();
  void Drop();
  // Returns the value with this name among the results of the last Flush that
  // had any results.
  const Value* Find(const std::string& name) const;
  const std::deque<Value>& values() const { return values_; }
  // Returns the names of the results of this graph's own nodes.
  const std::vector<std::string>& results() const { return results_; }
  void AddValue(Value value) { values_.push_back(std::move(value)); }
  onnx::GraphProto& graph() { return graph_; }
  void set_recipe(std::string recipe) { recipe_ = std::move(recipe); }
  int depth() const { return depth_; }

  static bool Fits(const Value& value, const Range& range);
  static Value MakeValue(std::string name, vm::Tensor tensor, bool constant);

 private:
  vm::Tensor Fill(int32_t type, const Dims& dims, const Range& range);
  const Value* Choose(const std::vector<const Value*>& candidates);
  RandomModel ModelOfPending();

  ModelState& state_;
  const int depth_;
  onnx::GraphProto own_;
  onnx::GraphProto& graph_;
  std::deque<Value> values_;
  std::deque<onnx::NodeProto> pending_;
  std::set<std::string> hidden_;
  std::vector<std::string> results_;
  std::string recipe_;
};

}  // namespace ember::tests

#endif  // EMBER_TESTS_RANDOM_MODELS_BUILDER_H_
