#include "frontends/tensorflow/entry.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "base/one_line.h"
#include "frontends/model_errors.h"
#include "frontends/tensorflow/operator_table.h"

namespace ember::tensorflow {
namespace {

constexpr std::string_view kArrow = "->";

std::optional<std::vector<int64_t>> ShapeOf(const TensorShapeProto& shape) {
  if (shape.unknown_rank()) return std::nullopt;
  std::vector<int64_t> dims;
  for (const TensorShapeProto::Dim& dim : shape.dim())
    dims.push_back(dim.size() < 0 ? -1 : dim.size());
  return dims;
}

// Returns the type of a node's result, as far as the attributes of the node
// state it.
DataType TypeOf(const Node& node, int output) {
  for (const char* name : {"output_types", "Tout"}) {
    const AttrValue* types = FindAttribute(node, name);
    if (types != nullptr && types->has_list() &&
        output < types->list().type_size())
      return types->list().type(output);
  }
  for (const char* name : {"dtype", "DstT", "out_type", "T"}) {
    const AttrValue* type = FindAttribute(node, name);
    if (type != nullptr && type->value_case() == AttrValue::kType)
      return type->type();
  }
  return DT_FLOAT;
}

EntryInput InputAt(const Model& model, std::string name, Source source) {
  const Node& node = model.main().nodes[static_cast<size_t>(source.node)];
  EntryInput input{std::move(name), source, TypeOf(node, source.output), {}};
  const AttrValue* shape = FindAttribute(node, "shape");
  const AttrValue* all = FindAttribute(node, "_output_shapes");
  if (node.op.starts_with("Placeholder") && shape != nullptr &&
      shape->has_shape()) {
    input.shape = ShapeOf(shape->shape());
  } else if (all != nullptr && all->has_list() &&
             source.output < all->list().shape_size()) {
    input.shape = ShapeOf(all->list().shape(source.output));
  }
  return input;
}

std::vector<std::string> Parts(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    parts.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

// Returns the first result of each node whose results no node uses. These are
// the default outputs of a GraphDef. Constants, placeholders and operators that
// only have effects are left out.
std::vector<EntryOutput> UnusedResults(const Model& model) {
  const Body& body = model.main();
  std::vector<bool> used(body.nodes.size());
  for (const Node& node : body.nodes)
    for (const Source& input : node.inputs)
      used[static_cast<size_t>(input.node)] = true;
  std::vector<EntryOutput> outputs;
  for (size_t i = 0; i < body.nodes.size(); ++i) {
    const Node& node = body.nodes[i];
    if (used[i] || node.op == "Const" || node.op.starts_with("Placeholder"))
      continue;
    const OperatorRow* row = FindRow(node.op);
    if (row != nullptr && row->kind == OperatorKind::kNoResult) continue;
    outputs.push_back({std::string(node.name), {static_cast<int>(i), 0}});
  }
  return outputs;
}

// Returns the placeholders that the outputs need, in the graph's order.
std::vector<EntryInput> NeededPlaceholders(
    const Model& model, const std::vector<EntryOutput>& outputs) {
  const Body& body = model.main();
  std::vector<bool> seen(body.nodes.size());
  std::vector<int> stack;
  for (const EntryOutput& output : outputs) stack.push_back(output.source.node);
  while (!stack.empty()) {
    const int number = stack.back();
    stack.pop_back();
    if (seen[static_cast<size_t>(number)]) continue;
    seen[static_cast<size_t>(number)] = true;
    for (const Source& input : body.nodes[static_cast<size_t>(number)].inputs)
      stack.push_back(input.node);
  }
  std::vector<EntryInput> inputs;
  for (size_t i = 0; i < body.nodes.size(); ++i) {
    const Node& node = body.nodes[i];
    if (!seen[i] || (node.op != "Placeholder" && node.op != "PlaceholderV2"))
      continue;
    inputs.push_back(
        InputAt(model, std::string(node.name), {static_cast<int>(i), 0}));
  }
  return inputs;
}

Status CheckNames(const Entry& entry) {
  std::set<std::string> names;
  for (const EntryInput& input : entry.inputs) {
    if (!names.insert(input.name).second) {
      return InvalidArgumentError("--entry: input '" + OnOneLine(input.name) +
                                  "' is there twice");
    }
  }
  return OkStatus();
}

// Changes inputs that are strings and are only decoded as sound: they become
// u8[bytes], the bytes of a sound file.
void GiveSoundAsBytes(const Model& model, Entry& entry) {
  for (EntryInput& input : entry.inputs) {
    if (input.type != DT_STRING) continue;
    bool is_sound = false, is_other = false;
    for (const Node& node : model.main().nodes) {
      for (const Source& source : node.inputs) {
        if (source.node != input.source.node) continue;
        (node.op == "DecodeWav" ? is_sound : is_other) = true;
      }
    }
    if (!is_sound || is_other) continue;
    input.type = DT_UINT8;
    input.shape = {-1};
  }
}

StatusOr<Entry> CutOut(const Model& model, const std::string& text) {
  const size_t arrow = text.find(kArrow);
  Entry entry;
  for (const std::string& name :
       Parts(std::string_view(text).substr(arrow + kArrow.size()))) {
    StatusOr<Source> source = model.FindSource(name);
    if (!source.ok()) return source.status().WithContext("--entry");
    entry.outputs.push_back({name, *source});
  }
  if (entry.outputs.empty()) entry.outputs = UnusedResults(model);
  for (const std::string& name :
       Parts(std::string_view(text).substr(0, arrow))) {
    StatusOr<Source> source = model.FindSource(name);
    if (!source.ok()) return source.status().WithContext("--entry");
    entry.inputs.push_back(InputAt(model, name, *source));
  }
  if (entry.inputs.empty())
    entry.inputs = NeededPlaceholders(model, entry.outputs);
  if (entry.outputs.empty()) {
    return InvalidArgumentError(
        "--entry: expected nodes with results that nothing uses, found none "
        "(name the results: --entry='->NODE')");
  }
  EMBER_RETURN_IF_ERROR(CheckNames(entry));
  GiveSoundAsBytes(model, entry);
  return entry;
}

// Returns the names of the signatures that a user may select. Signatures that
// initialize the model are left out.
std::vector<std::string> SignatureNames(const Model& model) {
  std::vector<std::string> names;
  for (const auto& [key, signature] : model.signatures())
    if (!key.starts_with("__saved_model_")) names.push_back(key);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

StatusOr<Entry> FindEntry(const Model& model, const std::string& text) {
  if (text.find(kArrow) != std::string::npos) return CutOut(model, text);
  const auto& signatures = model.signatures();
  if (!model.is_saved_model()) {
    if (text.empty()) return CutOut(model, std::string(kArrow));
    return InvalidArgumentError(
        "--entry: expected INPUT,…->OUTPUT,… with nodes of the graph, found '" +
        OnOneLine(text) + "'");
  }
  auto found = signatures.find(text.empty() ? "serving_default" : text);
  if (found == signatures.end() && text.empty()) {
    // If no signature is named serving_default, uses the only one, apart from
    // those that initialize the model.
    for (auto it = signatures.begin(); it != signatures.end(); ++it) {
      if (it->first.starts_with("__saved_model_")) continue;
      if (found != signatures.end()) {
        found = signatures.end();
        break;
      }
      found = it;
    }
  }
  if (found == signatures.end()) {
    const std::vector<std::string> names = SignatureNames(model);
    if (names.empty()) {
      return InvalidArgumentError(
          "--entry: expected INPUT,…->OUTPUT,… with nodes of the graph, as "
          "the model has no signatures, found '" +
          OnOneLine(text) + "'");
    }
    return frontends::NoSuchEntry("signatures", names, text);
  }
  // The maps of protobuf have no order, so inputs and outputs are sorted by
  // name, as TensorFlow does.
  std::vector<std::pair<std::string, const TensorInfo*>> inputs, outputs;
  for (const auto& [name, info] : found->second->inputs())
    inputs.emplace_back(name, &info);
  for (const auto& [name, info] : found->second->outputs())
    outputs.emplace_back(name, &info);
  std::sort(inputs.begin(), inputs.end());
  std::sort(outputs.begin(), outputs.end());
  Entry entry;
  for (const auto& [name, info] : inputs) {
    const std::string what = "input '" + OnOneLine(name) + "'";
    if (info->name().empty())
      return UnimplementedError(what +
                                ": sparse and composite tensors are not "
                                "supported");
    StatusOr<Source> source = model.FindSource(info->name());
    if (!source.ok()) return source.status().WithContext(what);
    entry.inputs.push_back({name, *source, info->dtype(),
                            info->has_tensor_shape()
                                ? ShapeOf(info->tensor_shape())
                                : std::nullopt});
  }
  for (const auto& [name, info] : outputs) {
    const std::string what = "output '" + OnOneLine(name) + "'";
    if (info->name().empty())
      return UnimplementedError(what +
                                ": sparse and composite tensors are not "
                                "supported");
    StatusOr<Source> source = model.FindSource(info->name());
    if (!source.ok()) return source.status().WithContext(what);
    entry.outputs.push_back({name, *source, info->dtype()});
  }
  if (entry.outputs.empty())
    return InvalidArgumentError("signature '" + OnOneLine(found->first) +
                                "': expected outputs, found none");
  GiveSoundAsBytes(model, entry);
  return entry;
}

}  // namespace ember::tensorflow
