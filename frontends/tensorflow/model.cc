#include "frontends/tensorflow/model.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>
#include <utility>

#include "base/file.h"
#include "base/one_line.h"
#include "base/shortened.h"
#include "frontends/tensorflow/model_file.h"
#include "frontends/tensorflow/operator_names.h"

namespace ember::tensorflow {
namespace {

std::string Quoted(std::string_view text) {
  return "'" + OnOneLine(text) + "'";
}

// Converts a text that consists of digits to a number; nullopt for any other
// text.
std::optional<int> Number(std::string_view text) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || rest != end || value < 0)
    return std::nullopt;
  return value;
}

// Looks up the names of the results of a node, in a list such as
// "values,indices".
class ResultNames {
 public:
  // Returns the index of `name` in the list of result names; -1 if the list
  // does not have it.
  static int Find(std::string_view names, std::string_view name) {
    int index = 0;
    while (!names.empty()) {
      const size_t comma = std::min(names.find(','), names.size());
      if (names.substr(0, comma) == name) return index;
      names.remove_prefix(std::min(comma + 1, names.size()));
      ++index;
    }
    return -1;
  }
};

class BodyReader {
 public:
  BodyReader(const Model& model, Body& body) : model_(model), body_(body) {}

  Status AddNodes(const google::protobuf::RepeatedPtrField<NodeDef>& defs) {
    body_.nodes.reserve(static_cast<size_t>(defs.size()) + body_.nodes.size());
    for (const NodeDef& def : defs) {
      Node node;
      node.def = &def;
      node.name = def.name();
      node.op = def.op();
      EMBER_RETURN_IF_ERROR(Add(std::move(node)));
    }
    return OkStatus();
  }

  Status Add(Node node) {
    if (node.name.empty())
      return DataLossError("expected nodes with names, found one without");
    const auto index = static_cast<int>(body_.nodes.size());
    if (!body_.by_name.emplace(node.name, index).second)
      return DataLossError("node " + Quoted(node.name) + " is there twice");
    body_.nodes.push_back(std::move(node));
    return OkStatus();
  }

  Status Connect() {
    for (Node& node : body_.nodes) {
      if (node.def == nullptr) continue;
      for (const std::string& input : node.def->input()) {
        if (input.starts_with('^')) {
          const auto found =
              body_.by_name.find(std::string_view(input).substr(1));
          if (found == body_.by_name.end()) return Missing(node, input);
          node.controls.push_back(found->second);
          continue;
        }
        const std::optional<Source> source = Find(input);
        if (!source) return Missing(node, input);
        node.inputs.push_back(*source);
      }
    }
    return OkStatus();
  }

  // Finds the result that a text such as "node", "node:1" or "node:result:1"
  // names; nullopt if there is no such node or result.
  std::optional<Source> Find(std::string_view text) const {
    const size_t first = text.find(':');
    const auto found = body_.by_name.find(text.substr(0, first));
    if (found == body_.by_name.end()) return std::nullopt;
    Source source{found->second, 0};
    if (first == std::string_view::npos) return source;
    std::string_view rest = text.substr(first + 1);
    const size_t second = rest.find(':');
    const std::optional<int> number = Number(
        second == std::string_view::npos ? rest : rest.substr(second + 1));
    if (!number) return std::nullopt;
    source.output = *number;
    if (second == std::string_view::npos) return source;
    const int base = ResultOf(body_.nodes[static_cast<size_t>(found->second)],
                              rest.substr(0, second));
    if (base < 0) return std::nullopt;
    source.output += base;
    return source;
  }

 private:
  int ResultOf(const Node& node, std::string_view name) const {
    const std::string_view names = ResultNamesOf(node.op);
    if (!names.empty()) return ResultNames::Find(names, name);
    if (const FunctionDef* function = model_.Definition(node.op)) {
      for (int i = 0; i < function->signature().output_arg_size(); ++i)
        if (function->signature().output_arg(i).name() == name) return i;
      return -1;
    }
    // Any other operator has one result, or a list of results; both begin at
    // output 0.
    return 0;
  }

  static Status Missing(const Node& node, std::string_view input) {
    return DataLossError("node " + Quoted(OriginOf(node)) + ": input " +
                         Quoted(input) + " is no result of a node");
  }

  const Model& model_;
  Body& body_;
};

// Returns the source of a value, with Identity and Cast nodes skipped.
Source BehindCopies(const Body& body, Source source) {
  for (int steps = 0; steps < 1000; ++steps) {
    const Node& node = body.nodes[static_cast<size_t>(source.node)];
    if ((node.op != "Identity" && node.op != "Cast") || node.inputs.empty())
      break;
    source = node.inputs[0];
  }
  return source;
}

const TensorProto* ConstantOf(const Body& body, Source source) {
  const Node& node =
      body.nodes[static_cast<size_t>(BehindCopies(body, source).node)];
  if (node.op != "Const") return nullptr;
  const AttrValue* value = FindAttribute(node, "value");
  return value != nullptr && value->has_tensor() ? &value->tensor() : nullptr;
}

}  // namespace

std::string VariableName(const Node& node) {
  const AttrValue* shared = FindAttribute(node, "shared_name");
  return shared != nullptr && !shared->s().empty() ? shared->s()
                                                   : std::string(node.name);
}

const AttrValue* FindAttribute(const Node& node, std::string_view name) {
  if (node.def == nullptr) return nullptr;
  const auto found = node.def->attr().find(std::string(name));
  return found == node.def->attr().end() ? nullptr : &found->second;
}

std::string OriginOf(const Node& node) {
  return OnOneLine(Shortened(node.name, kLongestName) + " (" +
                   Shortened(node.op, kLongestName) + ")");
}

bool Model::IsModel(std::string_view contents) {
  return KindOf(contents) != FileKind::kNone;
}

StatusOr<std::shared_ptr<const Model>> Model::Open(frontends::ModelFile& file) {
  return file.Parsed<const Model>([&](const graph::ConstantData& contents) {
    return Read(contents.bytes, file.folder());
  });
}

StatusOr<std::shared_ptr<const Model>> Model::Read(
    std::span<const uint8_t> bytes, const std::string& folder) {
  std::shared_ptr<Model> model(new Model);
  model->folder_ = folder;
  const FileKind kind =
      KindOf({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  EMBER_RETURN_IF_ERROR(ParseFile(bytes, kind, model->graph_, model->saved_));
  model->root_ = &model->graph_;
  if (kind == FileKind::kSavedModel || kind == FileKind::kSavedModelText) {
    if (model->saved_.meta_graphs().empty())
      return DataLossError("expected a SavedModel with a graph, found none");
    // If a SavedModel has several graphs, the one with the tag for serving is
    // used.
    model->meta_ = &model->saved_.meta_graphs(0);
    for (const MetaGraphDef& meta : model->saved_.meta_graphs()) {
      const auto& tags = meta.meta_info_def().tags();
      if (std::find(tags.begin(), tags.end(), "serve") == tags.end()) continue;
      model->meta_ = &meta;
      break;
    }
    model->root_ = &model->meta_->graph_def();
  }
  EMBER_RETURN_IF_ERROR(model->Index());
  return std::shared_ptr<const Model>(std::move(model));
}

Status Model::Index() {
  int64_t nodes = root_->node_size();
  for (const FunctionDef& function : root_->library().function()) {
    nodes += function.node_def_size() + function.signature().input_arg_size();
    functions_.emplace(function.signature().name(), &function);
  }
  if (nodes > kMaxNodes) {
    return ResourceExhaustedError("expected at most " +
                                  std::to_string(kMaxNodes) + " nodes, found " +
                                  std::to_string(nodes));
  }
  BodyReader reader(*this, main_);
  EMBER_RETURN_IF_ERROR(reader.AddNodes(root_->node()));
  EMBER_RETURN_IF_ERROR(reader.Connect());
  if (meta_ == nullptr) return OkStatus();
  for (const auto& [key, signature] : meta_->signature_def())
    signatures_.emplace(key, &signature);
  return IndexVariables();
}

const FunctionDef* Model::Definition(std::string_view name) const {
  const auto found = functions_.find(name);
  return found == functions_.end() ? nullptr : found->second;
}

StatusOr<const Body*> Model::Function(std::string_view name) const {
  const auto found = bodies_.find(name);
  if (found != bodies_.end()) return found->second.get();
  const FunctionDef* definition = Definition(name);
  if (definition == nullptr) {
    return DataLossError("expected a function of the graph's library, found " +
                         Quoted(name));
  }
  const std::string where = "function " + Quoted(name);
  auto body = std::make_unique<Body>();
  body->name = std::string(name);
  body->function = definition;
  BodyReader reader(*this, *body);
  for (const OpDef::ArgDef& argument : definition->signature().input_arg()) {
    Node node;
    node.name = argument.name();
    node.op = "_Arg";
    const Status status = reader.Add(std::move(node));
    if (!status.ok()) return status.WithContext(where);
    ++body->arguments;
  }
  Status status = reader.AddNodes(definition->node_def());
  if (status.ok()) status = reader.Connect();
  if (!status.ok()) return status.WithContext(where);
  for (const OpDef::ArgDef& result : definition->signature().output_arg()) {
    const auto ret = definition->ret().find(result.name());
    const std::optional<Source> source = ret == definition->ret().end()
                                             ? std::nullopt
                                             : reader.Find(ret->second);
    if (!source) {
      return DataLossError(where + ": result " + Quoted(result.name()) +
                           " is no result of a node");
    }
    body->results.push_back(*source);
  }
  for (const auto& [key, node] : definition->control_ret()) {
    const auto control = body->by_name.find(node);
    if (control == body->by_name.end()) {
      return DataLossError(where + ": expected a node " + Quoted(node));
    }
    body->control_results.push_back(control->second);
  }
  // The order of the elements of a protobuf map is not deterministic, so the
  // control results are sorted.
  std::sort(body->control_results.begin(), body->control_results.end());
  return bodies_.emplace(std::string(name), std::move(body))
      .first->second.get();
}

StatusOr<Source> Model::FindSource(std::string_view name) const {
  Body& body = const_cast<Body&>(main_);
  const std::optional<Source> source = BodyReader(*this, body).Find(name);
  if (source) return *source;
  return InvalidArgumentError("expected a node of the graph, found " +
                              Quoted(name));
}

StatusOr<CheckpointTensor> Model::Variable(const std::string& name) const {
  const auto found = found_variables_.find(name);
  if (found != found_variables_.end()) return found->second;
  const auto key = variables_.find(name);
  if (key == variables_.end()) {
    return DataLossError("variable " + Quoted(name) +
                         ": the checkpoint has no value for it");
  }
  EMBER_ASSIGN_OR_RETURN(const CheckpointTensor tensor,
                         checkpoint_->Find(key->second));
  found_variables_.emplace(name, tensor);
  return tensor;
}

// Finds the checkpoint key of a variable from the nodes with which the graph
// restores its variables: they assign results of RestoreV2.
void Model::AddRestored(const Body& body, Source value,
                        const std::string& name) {
  const Source source = BehindCopies(body, value);
  const Node& restore = body.nodes[static_cast<size_t>(source.node)];
  if (restore.op != "RestoreV2" || restore.inputs.size() < 2) return;
  const TensorProto* names = ConstantOf(body, restore.inputs[1]);
  if (names == nullptr || source.output >= names->string_val_size()) return;
  variables_.emplace(name, names->string_val(source.output));
}

Status Model::RestoreByFunction(const Node& restore) {
  const AttrValue* function = FindAttribute(restore, "f");
  if (function == nullptr || !function->has_func()) return OkStatus();
  EMBER_ASSIGN_OR_RETURN(const Body* body, Function(function->func().name()));
  for (const Node& node : body->nodes) {
    if (node.op != "AssignVariableOp" || node.inputs.size() != 2) continue;
    const int argument = BehindCopies(*body, node.inputs[0]).node;
    if (argument >= body->arguments ||
        argument >= static_cast<int>(restore.inputs.size()))
      continue;
    const Source handle =
        BehindCopies(main_, restore.inputs[static_cast<size_t>(argument)]);
    const Node& variable = main_.nodes[static_cast<size_t>(handle.node)];
    if (variable.op == "VarHandleOp")
      AddRestored(*body, node.inputs[1], VariableName(variable));
  }
  return OkStatus();
}

Status Model::IndexVariables() {
  const std::string prefix = folder_ + "/variables/variables";
  if (folder_.empty() || !std::filesystem::exists(prefix + ".index"))
    return OkStatus();
  EMBER_ASSIGN_OR_RETURN(checkpoint_, Checkpoint::Open(prefix));
  const auto restore = main_.by_name.find(meta_->saver_def().restore_op_name());
  if (restore != main_.by_name.end()) {
    EMBER_RETURN_IF_ERROR(
        RestoreByFunction(main_.nodes[static_cast<size_t>(restore->second)]));
  }
  // A TensorFlow 1 graph contains the nodes that assign restored values to
  // variables; they give the variables' names in the checkpoint.
  for (const Node& node : main_.nodes) {
    if ((node.op != "AssignVariableOp" && node.op != "Assign") ||
        node.inputs.size() != 2)
      continue;
    const Source handle = BehindCopies(main_, node.inputs[0]);
    AddRestored(main_, node.inputs[1],
                VariableName(main_.nodes[static_cast<size_t>(handle.node)]));
  }
  return OkStatus();
}

}  // namespace ember::tensorflow
