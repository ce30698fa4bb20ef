#include "frontends/mxnet/import.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "base/byte_cursor.h"
#include "base/one_line.h"
#include "base/unique_names.h"
#include "frontends/import_steps.h"
#include "frontends/inputs.h"
#include "frontends/metadata.h"
#include "frontends/model_bytes.h"
#include "frontends/model_errors.h"
#include "frontends/mxnet/node_context.h"
#include "frontends/mxnet/operator_table.h"
#include "frontends/mxnet/params.h"
#include "frontends/mxnet/symbol.h"
#include "frontends/ops/errors.h"

namespace ember::mxnet {
namespace {

constexpr std::string_view kSymbolEnd = "-symbol.json";

// Returns for each node if the model's outputs (heads) depend on it. A label
// that only a loss reads is not needed.
std::vector<bool> NeededNodes(const Symbol& symbol) {
  std::vector<bool> needed(symbol.nodes.size());
  for (const Entry& head : symbol.heads) needed[head.node] = true;
  for (size_t i = symbol.nodes.size(); i-- > 0;) {
    if (!needed[i]) continue;
    const Node& node = symbol.nodes[i];
    const bool is_loss = node.op.ends_with("Output") || node.op == "Softmax" ||
                         node.op == "IdentityAttachKLSparseReg";
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      if (k > 0 && is_loss) break;
      needed[node.inputs[k].node] = true;
    }
  }
  return needed;
}

Status CheckOperators(const Symbol& symbol, const std::vector<bool>& needed) {
  frontends::UnsupportedParts missing("operators", "node");
  for (size_t i = 0; i < symbol.nodes.size(); ++i) {
    const Node& node = symbol.nodes[i];
    if (!needed[i] || node.is_variable()) continue;
    const OperatorRow* row = FindRow(node.op);
    if (row != nullptr && row->import != nullptr) continue;
    missing.Add(node.op, node.name, row != nullptr ? row->reason : "");
  }
  return missing.ToStatus();
}

class GraphImporter {
 public:
  GraphImporter(const Symbol& symbol, const Params& params,
                const frontends::ImportOptions& options)
      : symbol_(symbol),
        params_(params),
        options_(options),
        needed_(NeededNodes(symbol)),
        builder_("main", options.operation_limit),
        steps_(options.progress) {}

  StatusOr<graph::Graph> Import() {
    EMBER_RETURN_IF_ERROR(CheckOperators(symbol_, needed_));
    values_.resize(symbol_.nodes.size());
    EMBER_RETURN_IF_ERROR(AddInputs());
    for (size_t i = 0; i < symbol_.nodes.size(); ++i)
      if (needed_[i] && !symbol_.nodes[i].is_variable()) steps_.Expect(1);
    for (size_t i = 0; i < symbol_.nodes.size(); ++i) {
      if (!needed_[i]) continue;
      EMBER_RETURN_IF_ERROR(symbol_.nodes[i].is_variable() ? AddWeight(i)
                                                           : AddNode(i));
    }
    EMBER_RETURN_IF_ERROR(AddOutputs());
    return builder_.Finish();
  }

  // Returns the model's inputs, in the order of its nodes.
  std::vector<frontends::ModelInput> Inputs() const {
    std::vector<frontends::ModelInput> inputs;
    std::set<std::string_view> names;
    for (size_t i = 0; i < symbol_.nodes.size(); ++i) {
      const Node& node = symbol_.nodes[i];
      if (!needed_[i] || !node.is_variable() || params_.contains(node.name))
        continue;
      // Variables with the same name are one input.
      if (!names.insert(node.name).second) continue;
      // Dims are guessed only for the first 64 inputs, because each guess scans
      // all nodes. Real models have far fewer inputs.
      const bool may_guess = inputs.size() < 64;
      inputs.push_back(InputOf(static_cast<int>(i), may_guess));
    }
    return inputs;
  }

 private:
  frontends::ModelInput InputOf(int index, bool may_guess) const {
    const Node& node = symbol_.nodes[index];
    frontends::ModelInput input;
    input.name = node.name;
    NodeContext attributes(const_cast<graph::GraphBuilder&>(builder_), node,
                           {});
    const std::string type = attributes.Text("__dtype__", "0");
    // The attribute __dtype__ holds a type number, as .params files do.
    input.dtype = type == "1"   ? DType::kF64
                  : type == "2" ? DType::kF16
                  : type == "3" ? DType::kU8
                  : type == "4" ? DType::kI32
                  : type == "5" ? DType::kI8
                  : type == "6" ? DType::kI64
                                : DType::kF32;
    if (attributes.Has("__shape__")) {
      auto& dims = input.dims.emplace();
      for (const int64_t dim : attributes.Integers("__shape__")) {
        if (dim > 0) {
          dims.push_back({.extent = dim});
        } else {
          dims.push_back({.extent = 0, .symbol = SymbolOf(node, dims.size())});
        }
      }
      if (dims.size() > static_cast<size_t>(kMaxRank)) input.dims.reset();
    } else if (may_guess) {
      input.dims = GuessDims(index);
    }
    return input;
  }

  static std::string SymbolOf(const Node& node, size_t axis) {
    return axis == 0 ? "N"
                     : frontends::ToIdentifier(node.name) + "_" +
                           std::to_string(axis);
  }

  // Guesses the dims from the weights of the convolution that the input reaches
  // through operators on elements; nullopt if it reaches none, or if the
  // weights are unknown or not of rank 3 to 5.
  std::optional<std::vector<frontends::ModelDim>> GuessDims(int index) const {
    std::set<int> same{index};
    for (size_t i = static_cast<size_t>(index) + 1; i < symbol_.nodes.size();
         ++i) {
      const Node& node = symbol_.nodes[i];
      if (!needed_[i] || node.inputs.empty() ||
          !same.contains(node.inputs[0].node))
        continue;
      if (node.op == "Convolution" && node.inputs.size() > 1) {
        const auto weight =
            params_.find(symbol_.nodes[node.inputs[1].node].name);
        if (weight == params_.end()) return std::nullopt;
        const std::vector<int64_t>& shape = weight->second.dims;
        if (shape.size() < 3 || shape.size() > 5) return std::nullopt;
        const auto groups = node.attributes.find("num_group");
        std::vector<frontends::ModelDim> dims;
        for (size_t axis = 0; axis < shape.size(); ++axis)
          dims.push_back(
              {.extent = 0, .symbol = SymbolOf(symbol_.nodes[index], axis)});
        if (groups == node.attributes.end() || groups->second == "1")
          dims[1] = {.extent = shape[1]};
        return dims;
      }
      static constexpr std::string_view kSameShape[] = {
          "BatchNorm",     "_copy",         "identity",      "Cast",
          "_minus_scalar", "_MinusScalar",  "_mul_scalar",   "_MulScalar",
          "_plus_scalar",  "_PlusScalar",   "_div_scalar",   "_DivScalar",
          "broadcast_mul", "broadcast_sub", "broadcast_add", "broadcast_div"};
      if (std::find(std::begin(kSameShape), std::end(kSameShape), node.op) !=
          std::end(kSameShape))
        same.insert(static_cast<int>(i));
    }
    return std::nullopt;
  }

  Status AddInputs() {
    const std::vector<frontends::ModelInput> inputs = Inputs();
    EMBER_RETURN_IF_ERROR(builder_.status());
    EMBER_ASSIGN_OR_RETURN(const std::vector<graph::Value*> values,
                           frontends::AddInputs(inputs, options_, builder_));
    std::map<std::string_view, graph::Value*> by_name;
    for (size_t k = 0; k < inputs.size(); ++k)
      by_name.emplace(inputs[k].name, values[k]);
    for (size_t i = 0; i < symbol_.nodes.size(); ++i) {
      if (!symbol_.nodes[i].is_variable() || !needed_[i]) continue;
      const auto found = by_name.find(symbol_.nodes[i].name);
      if (found != by_name.end())
        values_[i] = {Tensor(&builder_, found->second)};
    }
    return OkStatus();
  }

  Status AddWeight(size_t index) {
    if (!values_[index].empty()) return OkStatus();
    const std::string& name = symbol_.nodes[index].name;
    const auto found = params_.find(name);
    if (found == params_.end())
      return DataLossError("variable '" + OnOneLine(name) +
                           "': expected it among the parameters");
    const Array& array = found->second;
    const auto width = static_cast<size_t>(DTypeByteSize(array.dtype));
    const Tensor constant(
        &builder_, builder_.Constant(array.dtype, array.dims,
                                     frontends::AlignedData(array.bytes, width,
                                                            array.owner)));
    EMBER_RETURN_IF_ERROR(builder_.status());
    if (constant.value()->name().empty()) constant.value()->set_name(name);
    values_[index] = {constant};
    return OkStatus();
  }

  Status AddNode(size_t index) {
    const Node& node = symbol_.nodes[index];
    EMBER_RETURN_IF_ERROR(steps_.Begin(node.op));
    const OperatorRow* row = FindRow(node.op);
    builder_.SetOrigin(OnOneLine(node.name) + " (" + OnOneLine(node.op) + ")");
    const std::string what = "node '" + builder_.origin() + "'";
    const auto given = static_cast<int>(node.inputs.size());
    if (given < row->minimum_inputs || given > row->maximum_inputs) {
      return DataLossError(what + ": expected " +
                           std::to_string(row->minimum_inputs) + " to " +
                           std::to_string(row->maximum_inputs) +
                           " inputs, found " + std::to_string(given));
    }
    std::vector<Tensor> inputs;
    for (const Entry& entry : node.inputs) {
      const std::vector<Tensor>& results = values_[entry.node];
      // The result of a node that is not needed (a label) is passed as an
      // absent tensor.
      if (!needed_[entry.node]) {
        inputs.emplace_back();
        continue;
      }
      if (static_cast<size_t>(entry.result) >= results.size()) {
        return DataLossError(
            what + ": expected result " + std::to_string(entry.result) +
            " of node '" + OnOneLine(symbol_.nodes[entry.node].name) +
            "', found " + std::to_string(results.size()) + " results");
      }
      inputs.push_back(results[static_cast<size_t>(entry.result)]);
    }
    NodeContext c(builder_, node, std::move(inputs));
    row->import(c);
    EMBER_RETURN_IF_ERROR(builder_.status());
    for (const Tensor& result : c.outputs()) {
      if (!result)
        return DataLossError(what + ": expected a result, found none");
      if (result.value()->name().empty()) result.value()->set_name(node.name);
    }
    values_[index] = c.outputs();
    return OkStatus();
  }

  Status AddOutputs() {
    UniqueNames unique;
    for (const Entry& head : symbol_.heads) {
      const Node& node = symbol_.nodes[head.node];
      const std::vector<Tensor>& results = values_[head.node];
      if (static_cast<size_t>(head.result) >= results.size()) {
        return DataLossError("heads: expected result " +
                             std::to_string(head.result) + " of node '" +
                             OnOneLine(node.name) + "', found " +
                             std::to_string(results.size()) + " results");
      }
      std::string name = node.name;
      if (!node.is_variable()) {
        name += "_output";
        if (results.size() > 1) name += std::to_string(head.result);
      }
      builder_.Output(unique.Take(name),
                      results[static_cast<size_t>(head.result)].value());
    }
    return builder_.status();
  }

  const Symbol& symbol_;
  const Params& params_;
  const frontends::ImportOptions& options_;
  const std::vector<bool> needed_;
  graph::GraphBuilder builder_;
  frontends::ImportSteps steps_;
  std::vector<std::vector<Tensor>> values_;  // Results by node.
};

struct Paths {
  std::string symbol, params;
};

// Returns the epoch in a file's name: the one to nine digits between `stem`,
// '-' and ".params"; nullopt if the name has another form.
std::optional<int64_t> EpochOf(std::string_view file, std::string_view stem) {
  if (!file.starts_with(stem) || !file.ends_with(".params"))
    return std::nullopt;
  file.remove_prefix(stem.size());
  file.remove_suffix(7);
  if (file.size() < 2 || file.size() > 10 || file[0] != '-')
    return std::nullopt;
  int64_t epoch = 0;
  for (const char c : file.substr(1)) {
    if (c < '0' || c > '9') return std::nullopt;
    epoch = epoch * 10 + (c - '0');
  }
  return epoch;
}

StatusOr<Paths> PathsOf(const std::string& path) {
  if (path.ends_with(".params")) {
    const std::string stem = path.substr(0, path.size() - 7);
    const size_t dash = stem.rfind('-');
    return Paths{stem.substr(0, dash) + std::string(kSymbolEnd), path};
  }
  if (!path.ends_with(kSymbolEnd)) {
    return InvalidArgumentError("model '" + OnOneLine(path) +
                                "': expected a name that ends with "
                                "-symbol.json, as NAME-0000.params is beside "
                                "it");
  }
  const std::string stem = path.substr(0, path.size() - kSymbolEnd.size());
  const std::filesystem::path whole(stem);
  const std::filesystem::path folder =
      whole.has_parent_path() ? whole.parent_path() : ".";
  std::string best;
  int64_t best_epoch = -1;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder, error), end;
       !error && it != end; it.increment(error)) {
    const std::string file = it->path().filename().string();
    const auto epoch = EpochOf(file, whole.filename().string());
    if (epoch && *epoch > best_epoch) {
      best_epoch = *epoch;
      best = it->path().string();
    }
  }
  if (best.empty()) {
    return NotFoundError("model '" + OnOneLine(path) + "': expected '" +
                         OnOneLine(whole.filename().string()) +
                         "-0000.params' (or another epoch's) beside it, found "
                         "none");
  }
  return Paths{path, best};
}

struct Model {
  Symbol symbol;
  Params params;
};

StatusOr<Model> ReadModel(std::string_view symbol,
                          const graph::ConstantData& params) {
  Model model;
  EMBER_ASSIGN_OR_RETURN(model.symbol, ReadSymbol(symbol));
  EMBER_ASSIGN_OR_RETURN(model.params, ReadParams(params.bytes, params.owner));
  return model;
}

// Reads both files of the model, of which `file` is one: the symbol and the
// parameters.
StatusOr<std::shared_ptr<Model>> Open(frontends::ModelFile& file) {
  EMBER_ASSIGN_OR_RETURN(const Paths paths, PathsOf(file.path()));
  const auto map = [&](const std::string& path,
                       const graph::ConstantData& contents) {
    return path == file.path() ? contents : frontends::ModelFile(path).Map();
  };
  const auto read =
      [&](const graph::ConstantData& contents) -> StatusOr<Model> {
    EMBER_ASSIGN_OR_RETURN(const graph::ConstantData symbol,
                           map(paths.symbol, contents));
    EMBER_ASSIGN_OR_RETURN(const graph::ConstantData params,
                           map(paths.params, contents));
    StatusOr<Model> model = ReadModel(AsText(symbol.bytes), params);
    if (!model.ok()) return frontends::OfModel(model.status(), file.name());
    return model;
  };
  return file.Parsed<Model>(read);
}

StatusOr<graph::Graph> ImportRead(const Model& model,
                                  const frontends::ImportOptions& options,
                                  std::string_view name) {
  Status status = frontends::CheckNoEntry(options, "a symbol has one function");
  if (!status.ok()) return frontends::OfModel(status, name);
  StatusOr<graph::Graph> graph =
      GraphImporter(model.symbol, model.params, options).Import();
  if (!graph.ok()) return frontends::OfModel(graph.status(), name);
  frontends::MetadataCollector metadata("mxnet");
  for (const auto& [key, value] : model.symbol.attributes)
    metadata.Add(key, value);
  graph->set_metadata(std::move(metadata).Take());
  return graph;
}

}  // namespace

StatusOr<graph::Graph> ImportModelBytes(std::string_view symbol,
                                        std::span<const uint8_t> params,
                                        std::shared_ptr<const void> owner,
                                        const frontends::ImportOptions& options,
                                        std::string_view name) {
  const StatusOr<Model> model =
      ReadModel(symbol, frontends::KeptBytes(params, std::move(owner)));
  if (!model.ok()) return frontends::OfModel(model.status(), name);
  return ImportRead(*model, options, name);
}

StatusOr<graph::Graph> ImportModel(frontends::ModelFile& file,
                                   const frontends::ImportOptions& options) {
  EMBER_ASSIGN_OR_RETURN(const std::shared_ptr<Model> model, Open(file));
  return ImportRead(*model, options, file.name());
}

StatusOr<std::vector<frontends::InputInfo>> ModelInputs(
    frontends::ModelFile& file, const frontends::ImportOptions& options) {
  EMBER_ASSIGN_OR_RETURN(const std::shared_ptr<Model> model, Open(file));
  std::vector<frontends::InputInfo> infos;
  for (const frontends::ModelInput& input :
       GraphImporter(model->symbol, model->params, options).Inputs())
    infos.push_back({input.name, input.dims.has_value()});
  return infos;
}

}  // namespace ember::mxnet
