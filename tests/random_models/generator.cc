#include "tests/random_models/generator.h"

#include <algorithm>
#include <set>
#include <utility>

#include "tests/random_models/recipe.h"

namespace ember::tests {
namespace {

using onnx::TensorProto;

int DrawOpset(Random& random) {
  if (random.Chance(0.6)) return static_cast<int>(random.Between(17, 21));
  if (random.Chance(0.45)) return static_cast<int>(random.Between(22, 24));
  if (random.Chance(0.9)) return static_cast<int>(random.Between(9, 16));
  return static_cast<int>(random.Between(25, 28));
}

std::vector<const Recipe*> AvailableRecipes(const GeneratorOptions& options,
                                            int opset) {
  std::vector<const Recipe*> available;
  for (const Recipe& recipe : Recipes()) {
    const std::string name =
        std::string(recipe.domain) + "::" + std::string(recipe.name);
    if (!options.only.empty() && name.find(options.only) == std::string::npos)
      continue;
    if (IsAvailable(recipe, opset)) available.push_back(&recipe);
  }
  return available;
}

void CollectUses(const onnx::GraphProto& graph, std::set<std::string>& uses) {
  for (const onnx::NodeProto& node : graph.node()) {
    for (const std::string& input : node.input()) uses.insert(input);
    for (const onnx::AttributeProto& attribute : node.attribute())
      if (attribute.has_g()) CollectUses(attribute.g(), uses);
  }
  for (const onnx::ValueInfoProto& output : graph.output())
    uses.insert(output.name());
}

void AddOutput(onnx::GraphProto& graph, const Value& value) {
  onnx::ValueInfoProto& output = *graph.add_output();
  if (value.type == TensorProto::BFLOAT16) {
    // Adds casts around bf16, because ONNX Runtime's binding for node has no
    // arrays of bf16.
    onnx::NodeProto& node = *graph.add_node();
    node.set_op_type("Cast");
    node.set_name("widen_" + value.name);
    node.add_input(value.name);
    node.add_output(value.name + "_wide");
    onnx::AttributeProto& to = *node.add_attribute();
    to.set_name("to");
    to.set_type(onnx::AttributeProto::INT);
    to.set_i(TensorProto::FLOAT);
    output.set_name(value.name + "_wide");
    output.mutable_type()->mutable_tensor_type()->set_elem_type(
        TensorProto::FLOAT);
    return;
  }
  output.set_name(value.name);
  output.mutable_type()->mutable_tensor_type()->set_elem_type(value.type);
}

template <typename Repeated, typename Keep>
void Filter(Repeated* elements, const Keep& keep) {
  for (int i = elements->size() - 1; i >= 0; --i)
    if (!keep(elements->Get(i))) elements->DeleteSubrange(i, 1);
}

}  // namespace

void RemoveDeadNodesInside(onnx::GraphProto& graph) {
  for (onnx::NodeProto& node : *graph.mutable_node()) {
    for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
      if (!attribute.has_g()) continue;
      onnx::GraphProto& inner = *attribute.mutable_g();
      RemoveDeadNodesInside(inner);
      for (bool changed = true; changed;) {
        std::set<std::string> uses;
        CollectUses(inner, uses);
        const int before = inner.node_size();
        Filter(inner.mutable_node(), [&](const onnx::NodeProto& candidate) {
          return std::any_of(
              candidate.output().begin(), candidate.output().end(),
              [&](const std::string& name) { return uses.count(name) > 0; });
        });
        changed = inner.node_size() != before;
      }
    }
  }
}

void RemoveDeadNodes(RandomModel& model) {
  onnx::GraphProto& graph = *model.proto.mutable_graph();
  for (bool changed = true; changed;) {
    std::set<std::string> uses;
    CollectUses(graph, uses);
    const int before = graph.node_size();
    Filter(graph.mutable_node(), [&](const onnx::NodeProto& node) {
      return std::any_of(
          node.output().begin(), node.output().end(),
          [&](const std::string& name) { return uses.count(name) > 0; });
    });
    changed = graph.node_size() != before;
    const auto is_used = [&](const auto& element) {
      return uses.count(element.name()) > 0;
    };
    Filter(graph.mutable_initializer(), is_used);
    Filter(graph.mutable_input(), is_used);
    std::erase_if(model.inputs, [&](const auto& input) {
      return uses.count(input.first) == 0;
    });
  }
}

RandomModel WithOpenDims(const RandomModel& model, OpenDims open) {
  RandomModel result = model;
  Random random(model.seed ^ 0x6f70656e);
  for (onnx::ValueInfoProto& input :
       *result.proto.mutable_graph()->mutable_input()) {
    auto& shape = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
    for (int i = 0; i < shape.dim_size(); ++i) {
      // A dim of 0 stays fixed, because tests/onnx/open_dims_test.cc tests open
      // dims of 0.
      if (shape.dim(i).dim_value() == 0) continue;
      if (open == OpenDims::kAll ||
          (open == OpenDims::kSome && random.Chance(0.35)))
        shape.mutable_dim(i)->set_dim_param(input.name() + "_d" +
                                            std::to_string(i));
    }
  }
  return result;
}

RandomModel GenerateModel(uint64_t seed, const GeneratorOptions& options,
                          Engine& engine, std::vector<Refused>* refused) {
  ModelState state(seed, engine);
  Random& random = state.random;
  state.opset = DrawOpset(random);
  state.ml_opset = random.Chance(0.7) ? 3 : 2;
  state.most_elements = random.Chance(0.06)  ? 40000
                        : random.Chance(0.3) ? 4096
                                             : 600;
  state.constants = random.Real(0, 0.9);
  state.main.set_name("random");
  Builder builder(state, nullptr);
  const std::vector<const Recipe*> recipes =
      AvailableRecipes(options, state.opset);
  // The smaller of two random numbers is taken: models with few nodes are quick
  // to run and easy to understand, and some long chains test fusion.
  const int64_t nodes = std::min(random.Between(1, options.most_nodes),
                                 random.Between(1, options.most_nodes));
  std::vector<const Recipe*> common;
  for (const Recipe* recipe : recipes)
    if (recipe->domain.empty()) common.push_back(recipe);
  for (int64_t i = 0, tries = 0; i < nodes && tries < 4 * nodes; ++tries) {
    const auto& from = common.empty() || random.Chance(0.15) ? recipes : common;
    if (from.empty()) break;
    if (Generate(builder, *random.Pick(from))) ++i;
  }

  RandomModel model;
  model.seed = seed;
  std::set<std::string> uses;
  CollectUses(state.main, uses);
  bool has_output = false;
  for (const Value& value : builder.values()) {
    const auto& own = builder.results();
    if (std::find(own.begin(), own.end(), value.name) == own.end()) continue;
    if (uses.count(value.name) > 0 && !random.Chance(0.15)) continue;
    AddOutput(state.main, value);
    has_output = true;
  }
  if (!has_output && !builder.results().empty())
    AddOutput(state.main, *builder.Find(builder.results().back()));
  for (const Value& value : builder.values())
    model.values.emplace(value.name, value.tensor);
  model.proto.set_ir_version(10);
  model.proto.add_opset_import()->set_version(state.opset);
  model.proto.mutable_graph()->Swap(&state.main);
  AddDomains(model.proto, state.ml_opset);
  model.inputs = std::move(state.inputs);
  RemoveDeadNodes(model);
  if (refused != nullptr) {
    for (Refused& part : state.refused) {
      part.model.seed = seed;
      refused->push_back(std::move(part));
    }
  }
  return model;
}

}  // namespace ember::tests
