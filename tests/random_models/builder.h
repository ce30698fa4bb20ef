// A graph of a random model while it grows. Recipes (recipe.h) ask for
// operands, which are values that are there or new ones, and add nodes; each
// group of nodes is run at once by tier 0, so that the next recipe knows the
// extents and contents of everything: shapes that depend on data, indices that
// must be in range and values that would overflow need no second set of rules.
//
//   Value x = b.Pick("fdh", 1, 5);
//   b.Node("Softmax", {x.name}, {{"axis", b.Axis(x)}});
//   b.Flush();
//
// What the engine refuses is taken back, and kept as a model of its own
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
#include "frontends/onnx/model_builder.h"
#include "tests/random_models/model.h"
#include "tests/random_models/random.h"
#include "tests/random_models/run_ours.h"

namespace ember::tests {

using Dims = std::vector<int64_t>;
using Names = std::vector<std::string>;
using Attributes = std::vector<onnx::TestAttribute>;

struct Value {
  std::string name;
  int32_t type = 0;  // of ONNX
  vm::Tensor tensor;
  bool is_constant = false;
  double low = 0, high = 0;  // of the elements
  bool is_finite = true;

  const Dims& dims() const { return tensor.dims; }
  int64_t rank() const { return static_cast<int64_t>(tensor.dims.size()); }
  int64_t count() const;
};

// Of elements, both ends included. loose: what is there may go beyond.
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

// What the graph and its subgraphs share.
struct ModelState {
  // Inputs and constants of the main graph, whichever graph asked for them.
  std::vector<Value> shared;

  explicit ModelState(uint64_t seed, Engine& e) : random(seed), engine(e) {}

  Random random;
  Engine& engine;
  int opset = 21;
  int ml_opset = 3;
  int64_t most_elements = 2048;
  double constants = 0.5;  // how often a new operand is a constant
  int next_name = 0;
  onnx::GraphProto main;
  NamedTensors inputs;
  std::vector<Refused> refused;
  std::set<std::string> operators;  // "domain::name" of what was added
};

class Builder {
 public:
  // outer: null for the main graph. A subgraph's nodes may use its values.
  Builder(ModelState& state, Builder* outer);

  Random& random() { return state_.random; }
  int opset() const { return state_.opset; }
  ModelState& state() { return state_; }

  // Types are letters, drawn as often as they stand there: f f32, d f64, h f16,
  // b bf16, c i8, s i16, i i32, l i64, C u8, S u16, I u32, L u64, ? bool, t
  // string.
  static int32_t TypeOf(char letter);
  int32_t Type(std::string_view letters);

  int64_t Extent();
  Dims Shape(int64_t rank);
  // A random axis, negative at times where the opset allows.
  int Axis(const Value& value);

  // A value of these dims.
  Value Operand(int32_t type, const Dims& dims, Range range = {},
                Source source = Source::kAny);
  // A value of one of the types, of any dims of such a rank. Ranks of a new one
  // are small.
  Value Pick(std::string_view letters, int64_t least_rank = 0,
             int64_t most_rank = 5, Range range = {});
  Value New(int32_t type, const Dims& dims, Range range = {},
            Source source = Source::kAny);
  // Integers that the import must know.
  std::string Integers(const std::vector<int64_t>& values,
                       int32_t type = onnx::TensorProto::INT64);
  std::string Integer(int64_t value, int32_t type = onnx::TensorProto::INT64);
  std::string Constant(vm::Tensor tensor);
  std::string Scalar(int32_t type, double value);

  // A node of one result, or of several; their names.
  std::string Node(const std::string& op, const Names& inputs,
                   const Attributes& attributes = {},
                   const std::string& domain = "");
  Names Nodes(const std::string& op, const Names& inputs, int results,
              const Attributes& attributes = {},
              const std::string& domain = "");
  // The node that was added last, for attributes of other kinds.
  onnx::NodeProto& last() { return pending_.back(); }
  // A result that is no tensor.
  void Hide(const std::string& name) { hidden_.insert(name); }
  std::string NewName(const char* prefix);

  // Runs the nodes that were added since the last call; false: they were
  // refused, and are gone.
  bool Flush();
  void Drop();
  // Of the last Flush that gave any.
  const Value* Find(const std::string& name) const;
  const std::deque<Value>& values() const { return values_; }
  // Values that this graph's own nodes gave.
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
