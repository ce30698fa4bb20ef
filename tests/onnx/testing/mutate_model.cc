#include "tests/onnx/testing/mutate_model.h"

#include <cstdint>
#include <cstring>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/registry/operator_table.h"

namespace ember::tests {
namespace {

using onnx::AttributeProto;
using onnx::GraphProto;
using onnx::ModelProto;
using onnx::NodeProto;
using onnx::TensorProto;
using onnx::TypeProto;
using onnx::ValueInfoProto;

constexpr int64_t kIntegers[] = {
    0,         1,         -1,           2,         3,         4,
    5,         -2,        -3,           7,         8,         16,
    63,        64,        100,          1000,      -1000,     65535,
    INT32_MAX, 1 << 20,   INT32_MIN,    1LL << 31, 1LL << 40, 1LL << 62,
    INT64_MAX, INT64_MIN, INT64_MIN + 1};
constexpr float kFloats[] = {0,
                             1,
                             -1,
                             0.5f,
                             2,
                             -0.f,
                             1e-30f,
                             1e30f,
                             std::numeric_limits<float>::infinity(),
                             std::numeric_limits<float>::quiet_NaN()};

// Largest nesting depth of graphs that are changed.
constexpr int kMaxDepth = 12;

// Makes one change of a model. Its pointers into the model are valid only for
// that change.
class Mutator {
 public:
  Mutator(ModelProto& model, std::mt19937_64& random)
      : model_(model), random_(random) {
    Collect(*model.mutable_graph(), 0);
    for (onnx::FunctionProto& function : *model.mutable_functions()) {
      for (NodeProto& node : *function.mutable_node()) Collect(node, 0);
    }
  }

  void Change() {
    switch (Below(16)) {
      case 0:
        return ChangeOperator();
      case 1:
      case 2:
        return ChangeInputs();
      case 3:
        return ChangeNodes();
      case 4:
      case 5:
      case 6:
        return ChangeAttributes();
      case 7:
      case 8:
        return ChangeTensor();
      case 9:
      case 10:
        return ChangeValueInfo();
      case 11:
        return ChangeOutputs();
      case 12:
        return ChangeOpset();
      case 13:
        return MoveSubgraph();
      case 14:
        return ChangeNumbersOfTensor();
      case 15:
        return ChangeFunctions();
    }
  }

 private:
  uint64_t Below(uint64_t count) { return count == 0 ? 0 : random_() % count; }
  template <typename Field>
  auto* Pick(Field* field) {
    return field->size() == 0
               ? nullptr
               : field->Mutable(static_cast<int>(Below(field->size())));
  }
  template <typename T>
  T* Pick(std::vector<T*>& pointers) {
    return pointers.empty() ? nullptr : pointers[Below(pointers.size())];
  }
  int64_t Integer() {
    const uint64_t kind = Below(4);
    if (kind == 0) return static_cast<int64_t>(random_() >> Below(64));
    if (kind == 1) return static_cast<int64_t>(Below(5));
    return kIntegers[Below(std::size(kIntegers))];
  }
  // Returns a random integer, which is often a neighbour of the old one.
  int64_t Integer(int64_t old) {
    const auto bits = static_cast<uint64_t>(old);
    switch (Below(4)) {
      case 0:
        return static_cast<int64_t>(bits + 1);
      case 1:
        return static_cast<int64_t>(bits - 1);
      case 2:
        return static_cast<int64_t>(0 - bits);
    }
    return Integer();
  }

  void Collect(NodeProto& node, int depth) {
    nodes_.push_back(&node);
    for (const std::string& name : node.input()) names_.push_back(name);
    for (const std::string& name : node.output()) names_.push_back(name);
    for (AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.has_t()) tensors_.push_back(attribute.mutable_t());
      if (attribute.has_g() && depth < kMaxDepth)
        Collect(*attribute.mutable_g(), depth + 1);
    }
  }
  void Collect(GraphProto& graph, int depth) {
    graphs_.push_back(&graph);
    for (NodeProto& node : *graph.mutable_node()) Collect(node, depth);
    for (TensorProto& tensor : *graph.mutable_initializer()) {
      tensors_.push_back(&tensor);
      names_.push_back(tensor.name());
    }
    for (ValueInfoProto& input : *graph.mutable_input()) {
      infos_.push_back(&input);
      names_.push_back(input.name());
    }
    for (ValueInfoProto& output : *graph.mutable_output())
      infos_.push_back(&output);
  }

  std::string Name() {
    const uint64_t kind = Below(16);
    if (kind == 0) return "";
    if (kind == 1 || names_.empty()) return "fresh" + std::to_string(Below(9));
    return names_[Below(names_.size())];
  }

  void ChangeOperator() {
    NodeProto* node = Pick(nodes_);
    if (node == nullptr) return;
    const auto table = onnx::OperatorTable();
    const onnx::OperatorRow& row = table[Below(table.size())];
    node->set_op_type(std::string(row.name));
    node->set_domain(std::string(row.domain));
    while (node->input_size() < row.minimum_inputs) node->add_input(Name());
    if (row.domain.empty()) return;
    auto& import = *model_.add_opset_import();
    import.set_domain(std::string(row.domain));
    import.set_version(1 + static_cast<int64_t>(Below(5)));
  }

  void ChangeInputs() {
    NodeProto* node = Pick(nodes_);
    if (node == nullptr) return;
    const int count = node->input_size();
    const int at = static_cast<int>(Below(count));
    switch (Below(count == 0 ? 1 : 4)) {
      case 0:
        return node->add_input(Name());
      case 1:
        return node->set_input(at, Name());
      case 2:
        return node->mutable_input()->SwapElements(
            at, static_cast<int>(Below(count)));
      case 3:
        return node->mutable_input()->RemoveLast();
    }
  }

  void ChangeNodes() {
    GraphProto* graph = Pick(graphs_);
    if (graph->node_size() == 0) return;
    const int at = static_cast<int>(Below(graph->node_size()));
    const int other = static_cast<int>(Below(graph->node_size()));
    switch (Below(3)) {
      case 0:
        graph->mutable_node()->DeleteSubrange(at, 1);
        break;
      case 1:
        graph->mutable_node()->SwapElements(at, other);
        break;
      case 2: {
        NodeProto copy = graph->node(at);
        for (std::string& output : *copy.mutable_output()) output += "_";
        *graph->add_node() = std::move(copy);
        break;
      }
    }
  }

  void ChangeAttributes() {
    NodeProto* node = Pick(nodes_);
    if (node == nullptr) return;
    NodeProto* other = Pick(nodes_);
    AttributeProto* attribute = Pick(node->mutable_attribute());
    const uint64_t kind = Below(8);
    if (attribute == nullptr || kind == 0) {
      const AttributeProto* source = Pick(other->mutable_attribute());
      if (source == nullptr || source->has_g() || source->has_t()) return;
      const AttributeProto copy = *source;
      *node->add_attribute() = copy;
    } else if (kind == 1 && !attribute->has_g() && !attribute->has_t()) {
      node->mutable_attribute()->SwapElements(
          0, static_cast<int>(Below(node->attribute_size())));
      node->mutable_attribute()->DeleteSubrange(0, 1);
    } else if (kind == 2) {
      attribute->set_type(
          static_cast<AttributeProto::AttributeType>(Below(15)));
    } else {
      ChangeValue(*attribute);
    }
  }

  void ChangeValue(AttributeProto& attribute) {
    switch (attribute.type()) {
      case AttributeProto::INT:
        return attribute.set_i(Integer(attribute.i()));
      case AttributeProto::FLOAT:
        return attribute.set_f(kFloats[Below(std::size(kFloats))]);
      case AttributeProto::INTS: {
        const int count = attribute.ints_size();
        if (count == 0 || Below(4) == 0) return attribute.add_ints(Integer());
        if (Below(4) == 0) return attribute.mutable_ints()->RemoveLast();
        const int at = static_cast<int>(Below(count));
        return attribute.set_ints(at, Integer(attribute.ints(at)));
      }
      case AttributeProto::FLOATS: {
        const int count = attribute.floats_size();
        const float value = kFloats[Below(std::size(kFloats))];
        if (count == 0 || Below(4) == 0) return attribute.add_floats(value);
        if (Below(4) == 0) return attribute.mutable_floats()->RemoveLast();
        return attribute.set_floats(static_cast<int>(Below(count)), value);
      }
      case AttributeProto::STRING: {
        // The attribute gets the text of another node's attribute, which is
        // often a valid mode of some other operator.
        const NodeProto& node = *Pick(nodes_);
        for (const AttributeProto& other : node.attribute()) {
          if (other.type() == AttributeProto::STRING)
            return attribute.set_s(other.s());
        }
        if (attribute.s().empty()) return attribute.set_s("bij,bjk->bik");
        std::string text = attribute.s();
        text[Below(text.size())] = static_cast<char>(32 + Below(95));
        return attribute.set_s(text);
      }
      default:
        return;
    }
  }

  void ChangeTensor() {
    TensorProto* tensor = Pick(tensors_);
    if (tensor == nullptr) return;
    const int rank = tensor->dims_size();
    switch (Below(7)) {
      case 0:
        return tensor->add_dims(Below(2) == 0 ? 1 : Integer());
      case 1:
        if (rank > 0) tensor->mutable_dims()->RemoveLast();
        return;
      case 2:
        if (rank > 0) {
          const int at = static_cast<int>(Below(rank));
          tensor->set_dims(at, Integer(tensor->dims(at)));
        }
        return;
      case 3:
        return tensor->set_data_type(static_cast<int>(Below(29)));
      case 4:
        if (rank > 1) {
          tensor->mutable_dims()->SwapElements(0,
                                               static_cast<int>(Below(rank)));
        }
        return;
      case 5:
        return MakeExternal(*tensor);
      // This mutation makes a vector shorter or longer, with a matching number
      // of elements.
      case 6: {
        if (rank != 1 || tensor->raw_data().empty()) return;
        const int64_t dim = tensor->dims(0);
        const size_t size = tensor->raw_data().size();
        if (dim <= 0 || size % static_cast<size_t>(dim) != 0) return;
        const size_t count = Below(6);
        tensor->mutable_raw_data()->resize(count * size /
                                           static_cast<size_t>(dim));
        return tensor->set_dims(0, static_cast<int64_t>(count));
      }
    }
  }

  void MakeExternal(TensorProto& tensor) {
    tensor.set_data_location(TensorProto::EXTERNAL);
    tensor.clear_external_data();
    const auto add = [&](const char* key, std::string value) {
      auto& entry = *tensor.add_external_data();
      entry.set_key(key);
      entry.set_value(std::move(value));
    };
    const bool plain = Below(2) == 0;
    add("location",
        plain ? kLocations[0] : kLocations[Below(std::size(kLocations))]);
    if (Below(2) == 0)
      add("offset", std::to_string(plain ? Below(64) : Integer()));
    if (Below(3) == 0) add("length", std::to_string(Integer()));
  }

  void ChangeNumbersOfTensor() {
    TensorProto* tensor = Pick(tensors_);
    if (tensor == nullptr) return;
    if (tensor->int64_data_size() > 0) {
      const int at = static_cast<int>(Below(tensor->int64_data_size()));
      tensor->set_int64_data(at, Integer(tensor->int64_data(at)));
    } else if (tensor->int32_data_size() > 0) {
      const int at = static_cast<int>(Below(tensor->int32_data_size()));
      tensor->set_int32_data(
          at, static_cast<int32_t>(Integer(tensor->int32_data(at))));
    } else if (tensor->float_data_size() > 0) {
      tensor->set_float_data(static_cast<int>(Below(tensor->float_data_size())),
                             kFloats[Below(std::size(kFloats))]);
    } else if (tensor->raw_data().size() >= 8) {
      std::string& raw = *tensor->mutable_raw_data();
      const bool wide = tensor->data_type() == TensorProto::INT64;
      const size_t width = wide ? 8 : 4;
      const size_t at = Below(raw.size() / width) * width;
      int64_t value = 0;
      std::memcpy(&value, raw.data() + at, width);
      value = Integer(value);
      std::memcpy(raw.data() + at, &value, width);
    }
  }

  void ChangeValueInfo() {
    ValueInfoProto* info = Pick(infos_);
    if (info == nullptr) return;
    if (Below(12) == 0) return info->set_name(Name());
    // Wraps the value's type into a sequence or an optional.
    if (Below(12) == 0) {
      const TypeProto inner = info->type();
      TypeProto& type = *info->mutable_type();
      type.Clear();
      *(Below(2) == 0 ? type.mutable_sequence_type()->mutable_elem_type()
                      : type.mutable_optional_type()->mutable_elem_type()) =
          inner;
      return;
    }
    auto& tensor = *info->mutable_type()->mutable_tensor_type();
    if (Below(5) == 0) return tensor.set_elem_type(static_cast<int>(Below(29)));
    if (Below(8) == 0) return tensor.clear_shape();
    auto& shape = *tensor.mutable_shape();
    if (shape.dim_size() == 0 || Below(6) == 0) {
      shape.add_dim()->set_dim_value(static_cast<int64_t>(Below(4)));
      return;
    }
    if (Below(6) == 0) return shape.mutable_dim()->RemoveLast();
    auto& dim = *shape.mutable_dim(static_cast<int>(Below(shape.dim_size())));
    switch (Below(3)) {
      case 0:
        return dim.set_dim_value(Integer(dim.dim_value()));
      case 1:
        return dim.set_dim_param(Below(2) == 0 ? "N" : "M");
      case 2:
        return dim.clear_value();
    }
  }

  void ChangeOutputs() {
    NodeProto* node = Pick(nodes_);
    if (Below(3) == 0 || node == nullptr) {
      GraphProto* graph = Pick(graphs_);
      if (Below(3) == 0 && graph->output_size() > 0)
        graph->mutable_output()->RemoveLast();
      else
        graph->add_output()->set_name(Name());
      return;
    }
    if (node->output_size() == 0 || Below(3) == 0)
      return node->add_output(Name());
    if (Below(3) == 0) return node->mutable_output()->RemoveLast();
    node->set_output(static_cast<int>(Below(node->output_size())), Name());
  }

  void ChangeOpset() {
    auto* import = Pick(model_.mutable_opset_import());
    if (import == nullptr) return;
    import->set_version(Below(8) == 0 ? Integer()
                                      : static_cast<int64_t>(Below(27)));
  }

  // Copies a graph into a graph attribute: control flow gets nested, or its
  // body is replaced.
  void MoveSubgraph() {
    if (graphs_.size() < 2 || model_.ByteSizeLong() > 8192) return;
    GraphProto* to = graphs_[1 + Below(graphs_.size() - 1)];
    const GraphProto from = *Pick(graphs_);
    *to = from;
  }

  void ChangeFunctions() {
    if (model_.functions_size() == 0 || Below(2) == 0) {
      // Replaces a node by a call of a function that contains it.
      NodeProto* node = Pick(nodes_);
      if (node == nullptr || model_.functions_size() > 3) return;
      auto& function = *model_.add_functions();
      function.set_domain("local");
      function.set_name("F" + std::to_string(model_.functions_size()));
      *function.mutable_input() = node->input();
      *function.mutable_output() = node->output();
      *function.mutable_opset_import() = model_.opset_import();
      *function.add_node() = *node;
      node->clear_attribute();
      node->set_domain("local");
      node->set_op_type(function.name());
      auto& import = *model_.add_opset_import();
      import.set_domain("local");
      import.set_version(1);
      return;
    }
    // Makes a node a call of one of the model's functions, possibly a recursive
    // one.
    const auto& function =
        model_.functions(static_cast<int>(Below(model_.functions_size())));
    NodeProto* node = Pick(nodes_);
    if (node == nullptr) return;
    node->set_op_type(function.name());
    node->set_domain(function.domain());
  }

  ModelProto& model_;
  std::mt19937_64& random_;
  std::vector<NodeProto*> nodes_;
  std::vector<GraphProto*> graphs_;
  std::vector<TensorProto*> tensors_;
  std::vector<ValueInfoProto*> infos_;
  std::vector<std::string> names_;
};

}  // namespace

void MutateModel(ModelProto& model, std::mt19937_64& random) {
  for (uint64_t left = 1 + random() % 4; left > 0; --left)
    Mutator(model, random).Change();
}

void CrossModels(ModelProto& model, const ModelProto& other,
                 std::mt19937_64& random) {
  if (other.graph().node_size() == 0) return;
  std::vector<std::string> names;
  for (const ValueInfoProto& input : model.graph().input())
    names.push_back(input.name());
  for (const NodeProto& node : model.graph().node())
    names.insert(names.end(), node.output().begin(), node.output().end());
  GraphProto& graph = *model.mutable_graph();
  NodeProto& node = *graph.add_node();
  node = other.graph().node(
      static_cast<int>(random() % other.graph().node_size()));
  for (std::string& input : *node.mutable_input()) {
    const TensorProto* constant = nullptr;
    for (const TensorProto& tensor : other.graph().initializer()) {
      if (tensor.name() == input) constant = &tensor;
    }
    if (constant != nullptr) {
      input += "_other";
      *graph.add_initializer() = *constant;
      graph.mutable_initializer()->rbegin()->set_name(input);
    } else if (!input.empty() && !names.empty()) {
      input = names[random() % names.size()];
    }
  }
  for (std::string& output : *node.mutable_output()) {
    if (output.empty()) continue;
    output += "_other";
    graph.add_output()->set_name(output);
  }
  for (const auto& import : other.opset_import()) {
    if (!import.domain().empty()) *model.add_opset_import() = import;
  }
}

}  // namespace ember::tests
