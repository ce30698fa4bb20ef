// Recipes of If, Loop and Scan: their subgraphs consist of other recipes and
// use values from outside, too.
#include <algorithm>

#include "tests/random_models/recipe.h"

namespace ember::tests {
namespace {

using onnx::TensorProto;

// Adds nodes to a subgraph by random recipes. Recipes with subgraphs that would
// grow without end are left out.
void Grow(Builder& body, int64_t nodes) {
  const std::span<const Recipe> recipes = ElementwiseRecipes();
  const std::span<const Recipe> others[] = {
      ElementwiseRecipes(), ReductionRecipes(),   MovementRecipes(),
      IndexingRecipes(),    ContractionRecipes(), NormalizationRecipes()};
  for (int64_t i = 0; i < nodes; ++i) {
    const auto& family = body.random().Chance(0.4)
                             ? recipes
                             : others[body.random().Between(0, 5)];
    const Recipe& recipe = family[static_cast<size_t>(
        body.random().Between(0, static_cast<int64_t>(family.size()) - 1))];
    if (!IsAvailable(recipe, body.opset())) continue;
    Generate(body, recipe);
  }
}

// Returns the name of a value of this type and these dims that the body
// computes, for an output of the body.
std::string Produce(Builder& body, int32_t type, const Dims& dims,
                    const std::string& base) {
  std::vector<const Value*> made;
  for (const std::string& name : body.results()) {
    const Value* value = body.Find(name);
    if (value != nullptr && value->type == type && value->dims() == dims &&
        Builder::Fits(*value, {-50, 50, false}))
      made.push_back(value);
  }
  if (!made.empty() && body.random().Chance(0.7))
    return body.random().Pick(made)->name;
  const bool is_float = type == TensorProto::FLOAT ||
                        type == TensorProto::DOUBLE ||
                        type == TensorProto::FLOAT16;
  std::string name;
  if (is_float) {
    const std::string other = body.Operand(type, dims).name;
    const std::string sum = body.Node(body.random().Chance(0.5) ? "Add" : "Mul",
                                      {base.empty() ? other : base, other});
    name = body.Node("Tanh", {sum});
  } else if (base.empty()) {
    name = body.Node("Identity", {body.Operand(type, dims).name});
  } else {
    name = body.Node(
        body.random().Chance(0.5) && body.opset() >= 12 ? "Max" : "Sub",
        {base, body.Operand(type, dims).name});
  }
  body.Flush();
  return name;
}

void AddOutput(Builder& body, const std::string& name, bool has_dims = true) {
  onnx::ValueInfoProto& output = *body.graph().add_output();
  output.set_name(name);
  const Value* value = body.Find(name);
  if (value == nullptr) return;
  auto& tensor = *output.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(value->type);
  if (!has_dims) return;
  for (const int64_t dim : value->dims())
    tensor.mutable_shape()->add_dim()->set_dim_value(dim);
}

// Adds an input to the body of a loop. The tensor is its value in the first
// iteration.
std::string AddInput(Builder& body, const vm::Tensor& tensor) {
  Value value = Builder::MakeValue(body.NewName("b"), tensor, false);
  onnx::ValueInfoProto& input = *body.graph().add_input();
  input.set_name(value.name);
  auto& type = *input.mutable_type()->mutable_tensor_type();
  type.set_elem_type(value.type);
  type.mutable_shape();
  for (const int64_t dim : value.dims())
    type.mutable_shape()->add_dim()->set_dim_value(dim);
  body.AddValue(value);
  return value.name;
}

void SetBody(Builder& b, Builder& body, const char* name) {
  onnx::AttributeProto& attribute = *b.last().add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::GRAPH);
  attribute.mutable_g()->Swap(&body.graph());
}

// Returns the name of a value of the body with the contents of `name`. An outer
// value is copied by an Identity node, because the outputs of a subgraph must
// be its own values.
std::string OwnOf(Builder& body, const std::string& name) {
  const auto& own = body.results();
  const auto& outputs = body.graph().output();
  // A value that is already an output is copied, too, because ONNX Runtime does
  // not support a value that is two outputs of a body.
  const bool is_taken =
      std::any_of(outputs.begin(), outputs.end(),
                  [&](const auto& output) { return output.name() == name; });
  if (!is_taken && std::find(own.begin(), own.end(), name) != own.end())
    return name;
  const std::string copy = body.Node("Identity", {name});
  body.Flush();
  return copy;
}

bool If(Builder& b, const Recipe& recipe) {
  if (b.depth() >= 2 || b.opset() < 7) return false;
  const Value condition =
      b.Operand(TensorProto::BOOL, {}, {},
                b.random().Chance(0.2) ? Source::kConstant : Source::kInput);
  Builder then_body(b.state(), &b), else_body(b.state(), &b);
  then_body.set_recipe("::If");
  else_body.set_recipe("::If");
  Grow(then_body, b.random().Between(1, 3));
  Grow(else_body, b.random().Between(1, 3));
  const int64_t results = b.random().Between(1, 2);
  for (int64_t i = 0; i < results; ++i) {
    std::vector<const Value*> made;
    for (const std::string& name : then_body.results()) {
      const Value* value = then_body.Find(name);
      if (value != nullptr && value->is_finite &&
          value->type != TensorProto::BFLOAT16)
        made.push_back(value);
    }
    if (made.empty()) return false;
    const Value value = *b.random().Pick(made);
    const std::string other =
        OwnOf(else_body, Produce(else_body, value.type, value.dims(), ""));
    if (else_body.Find(other) == nullptr) return false;
    AddOutput(then_body, OwnOf(then_body, value.name));
    AddOutput(else_body, other);
  }
  b.Nodes("If", {condition.name}, static_cast<int>(results));
  SetBody(b, then_body, "then_branch");
  SetBody(b, else_body, "else_branch");
  return true;
}

bool Loop(Builder& b, const Recipe& recipe) {
  if (b.depth() >= 2) return false;
  const bool has_condition = b.random().Chance(0.5);
  const std::string trips =
      b.random().Chance(0.6)
          ? b.Integer(b.random().Between(1, 4))
          : b.New(TensorProto::INT64, {}, {1, 4, false}, Source::kInput).name;
  Names inputs = {trips, ""};
  Builder body(b.state(), &b);
  body.set_recipe("::Loop");
  auto zero = vm::Tensor::Allocate(DType::kI64, {});
  auto truth = vm::Tensor::Allocate(DType::kBool, {});
  truth->elements<uint8_t>()[0] = 1;
  AddInput(body, *zero);
  const std::string go_on = AddInput(body, *truth);
  if (has_condition) inputs[1] = b.Scalar(TensorProto::BOOL, 1);
  Names carried;
  std::vector<Value> initial;
  for (int64_t i = b.random().Between(0, 2); i > 0; --i) {
    const Value value = b.Pick("fffdil", 0, 3, {-20, 20, false});
    inputs.push_back(value.name);
    initial.push_back(value);
    carried.push_back(AddInput(body, value.tensor));
  }
  Grow(body, b.random().Between(1, 3));
  // Adds nodes that compute a condition from the loop's values, which sometimes
  // ends the loop early.
  std::string next = go_on;
  if (has_condition && !initial.empty() && initial[0].count() > 0 &&
      body.random().Chance(0.6)) {
    const bool old = body.opset() < 13;
    const std::string low =
        old ? body.Node("ReduceMin", {carried[0]}, {{"keepdims", 0}})
            : body.Node("ReduceMin", {carried[0]}, {{"keepdims", 0}});
    if (initial[0].type == TensorProto::FLOAT)
      next = body.Node("Less", {low, body.Scalar(TensorProto::FLOAT, 1.7)});
    if (!body.Flush()) next = go_on;
  }
  AddOutput(body, OwnOf(body, next));
  for (size_t i = 0; i < carried.size(); ++i) {
    const std::string result = OwnOf(
        body, Produce(body, initial[i].type, initial[i].dims(), carried[i]));
    if (body.Find(result) == nullptr) return false;
    AddOutput(body, result);
  }
  int results = static_cast<int>(carried.size());
  for (int64_t i = b.random().Between(carried.empty() ? 1 : 0, 2); i > 0; --i) {
    if (body.results().empty()) break;
    const Value* value = body.Find(b.random().Pick(body.results()));
    if (value == nullptr || !value->is_finite || value->tensor.strings)
      continue;
    AddOutput(body, OwnOf(body, value->name));
    ++results;
  }
  if (results == 0) return false;
  b.Nodes("Loop", inputs, results);
  SetBody(b, body, "body");
  return true;
}

bool Scan(Builder& b, const Recipe& recipe) {
  if (b.depth() >= 1 || b.opset() < 9) return false;
  const Value sequence = b.Pick("fffdil", 1, 4, {-20, 20, false});
  const int64_t length = sequence.dims()[0];
  if (length == 0 || length > 40 || sequence.count() > 4096) return false;
  Builder body(b.state(), &b);
  body.set_recipe("::Scan");
  Names inputs, carried;
  std::vector<Value> initial;
  for (int64_t i = b.random().Between(0, 2); i > 0; --i) {
    initial.push_back(b.Pick("ffdl", 0, 2, {-20, 20, false}));
    inputs.push_back(initial.back().name);
    carried.push_back(AddInput(body, initial.back().tensor));
  }
  inputs.push_back(sequence.name);
  const Dims element(sequence.dims().begin() + 1, sequence.dims().end());
  vm::Tensor first =
      vm::Tensor::Borrow(sequence.tensor.type, element, sequence.tensor.data);
  first.memory = sequence.tensor.memory;
  const std::string x = AddInput(body, first);
  Grow(body, b.random().Between(1, 3));
  for (size_t i = 0; i < carried.size(); ++i) {
    const std::string result = OwnOf(
        body, Produce(body, initial[i].type, initial[i].dims(), carried[i]));
    if (body.Find(result) == nullptr) return false;
    AddOutput(body, result);
  }
  const std::string scanned =
      OwnOf(body, Produce(body, sequence.type, element, x));
  if (body.Find(scanned) == nullptr) return false;
  AddOutput(body, scanned);
  Attributes attributes = {{"num_scan_inputs", 1}};
  if (b.random().Chance(0.3))
    attributes.emplace_back("scan_input_directions", std::vector<int64_t>{1});
  if (b.random().Chance(0.2))
    attributes.emplace_back("scan_output_directions", std::vector<int64_t>{1});
  b.Nodes("Scan", inputs, static_cast<int>(carried.size()) + 1, attributes);
  SetBody(b, body, "body");
  return true;
}

// NOLINTNEXTLINE(cert-err58-cpp)
const Recipe kRows[] = {
    {"", "If", If},         {"", "If", If},     {"", "Loop", Loop, 11},
    {"", "Loop", Loop, 11}, {"", "Scan", Scan},
};

}  // namespace

std::span<const Recipe> ControlFlowRecipes() { return kRows; }

}  // namespace ember::tests
