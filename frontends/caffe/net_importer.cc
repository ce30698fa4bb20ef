#include "frontends/caffe/net_importer.h"

#include <algorithm>
#include <utility>

#include "base/one_line.h"
#include "frontends/inputs.h"
#include "frontends/model_errors.h"

namespace ember::caffe {
namespace {

std::string Quoted(const std::string& name) {
  return "'" + OnOneLine(name) + "'";
}

// Returns "conv1 (Convolution)".
std::string OriginOf(const LayerParameter& layer, int index) {
  return (layer.name().empty() ? "layer " + std::to_string(index)
                               : layer.name()) +
         " (" + layer.type() + ")";
}

// Returns the type's name for errors; for type Python, the layer's class, too.
std::string TypeText(const LayerParameter& layer) {
  if (layer.type() != "Python") return layer.type();
  return "Python (" + layer.python_param().module() + "." +
         layer.python_param().layer() + ")";
}

Status CheckCount(const std::string& origin, std::string_view what, int count,
                  int minimum, int maximum) {
  if (count >= minimum && count <= maximum) return OkStatus();
  const std::string range =
      minimum == maximum ? std::to_string(minimum)
      : maximum == kMany
          ? "at least " + std::to_string(minimum)
          : std::to_string(minimum) + " to " + std::to_string(maximum);
  return InvalidArgumentError("node '" + origin + "': expected " + range + " " +
                              std::string(what) + ", found " +
                              std::to_string(count));
}

}  // namespace

StatusOr<std::vector<NetInput>> InputsOf(
    const std::vector<LayerParameter>& layers) {
  std::vector<NetInput> inputs;
  for (const LayerParameter& layer : layers) {
    const LayerRow* row = FindRow(layer.type());
    if (row == nullptr || !row->is_input()) continue;
    for (int i = 0; i < layer.top_size(); ++i) {
      NetInput& input = inputs.emplace_back();
      input.name = layer.top(i);
      if (layer.type() == "MemoryData") {
        const MemoryDataParameter& p = layer.memory_data_param();
        input.dims = i == 0 ? std::vector<int64_t>{p.batch_size(), p.channels(),
                                                   p.height(), p.width()}
                            : std::vector<int64_t>{p.batch_size()};
      } else {
        const InputParameter& p = layer.input_param();
        const int shape = p.shape_size() == 1 ? 0 : i;
        input.has_rank = shape < p.shape_size();
        if (input.has_rank)
          input.dims.assign(p.shape(shape).dim().begin(),
                            p.shape(shape).dim().end());
      }
      for (const int64_t dim : input.dims) {
        if (dim >= 0) continue;
        return InvalidArgumentError("input " + Quoted(input.name) +
                                    ": expected dims of at least 0, found " +
                                    std::to_string(dim));
      }
    }
  }
  return inputs;
}

Status CheckLayers(const std::vector<LayerParameter>& layers) {
  frontends::UnsupportedParts missing("operators", "layer");
  for (const LayerParameter& layer : layers) {
    const LayerRow* row = FindRow(layer.type());
    const bool is_unknown_python =
        layer.type() == "Python" && !IsKnownPythonLayer(layer.python_param());
    if (row != nullptr && row->reason.empty() && !is_unknown_python) continue;
    missing.Add(TypeText(layer), layer.name(),
                is_unknown_python ? "it is a program in Python"
                : row != nullptr  ? row->reason
                                  : "");
  }
  return missing.ToStatus();
}

StatusOr<graph::Graph> NetImporter::Import() {
  EMBER_RETURN_IF_ERROR(AddInputs());
  for (const LayerParameter& layer : layers_) {
    const LayerRow* row = FindRow(layer.type());
    if (row != nullptr && !row->is_input()) steps_.Expect(1);
  }
  int index = 0;
  for (const LayerParameter& layer : layers_)
    EMBER_RETURN_IF_ERROR(ImportLayer(layer, index++));
  EMBER_RETURN_IF_ERROR(AddOutputs());
  return builder_.Finish();
}

Status NetImporter::AddInputs() {
  EMBER_ASSIGN_OR_RETURN(const std::vector<NetInput> inputs, InputsOf(layers_));
  if (inputs.empty()) {
    return InvalidArgumentError(
        "expected a net with inputs, found none: name a net for deployment");
  }
  std::vector<frontends::ModelInput> model_inputs;
  for (const NetInput& input : inputs) {
    if (!inputs_.insert(input.name).second) {
      return InvalidArgumentError("expected inputs of different names, found " +
                                  Quoted(input.name) + " twice");
    }
    auto& model_input = model_inputs.emplace_back();
    model_input.name = input.name;
    if (!input.has_rank) continue;
    // Caffe reshapes a net to the shape of its inputs, so the user may fix
    // other extents than the file's.
    model_input.dims.emplace();
    for (const int64_t dim : input.dims)
      model_input.dims->push_back({.extent = dim, .may_differ = true});
  }
  EMBER_ASSIGN_OR_RETURN(
      const std::vector<graph::Value*> values,
      frontends::AddInputs(model_inputs, options_, builder_));
  for (size_t i = 0; i < inputs.size(); ++i)
    blobs_[inputs[i].name] = Tensor(&builder_, values[i]);
  return OkStatus();
}

Status NetImporter::SetBlob(const LayerParameter& layer,
                            const std::string& name, Tensor value) {
  const bool in_place = std::find(layer.bottom().begin(), layer.bottom().end(),
                                  name) != layer.bottom().end();
  if (blobs_.contains(name) && !in_place) {
    return InvalidArgumentError("blob " + Quoted(name) +
                                ": expected one layer that gives it, found "
                                "another: " +
                                Quoted(layer.name()));
  }
  blobs_[name] = value;
  available_.insert(name);
  return OkStatus();
}

Status NetImporter::ImportLayer(const LayerParameter& layer, int index) {
  const LayerRow* row = FindRow(layer.type());
  if (row == nullptr || !row->reason.empty())
    return UnimplementedError("unsupported operator " + layer.type());
  if (row->is_input()) return OkStatus();
  EMBER_RETURN_IF_ERROR(steps_.Begin(layer.type()));
  const std::string origin = OriginOf(layer, index);
  builder_.SetOrigin(origin);
  EMBER_RETURN_IF_ERROR(CheckCount(origin, "bottoms", layer.bottom_size(),
                                   row->minimum_bottoms, row->maximum_bottoms));
  EMBER_RETURN_IF_ERROR(CheckCount(origin, "tops", layer.top_size(),
                                   row->minimum_tops, row->maximum_tops));
  std::vector<Tensor> bottoms;
  for (const std::string& name : layer.bottom()) {
    const auto found = blobs_.find(name);
    if (found == blobs_.end()) {
      return InvalidArgumentError("node '" + origin + "': expected a blob " +
                                  Quoted(name) +
                                  " of a layer before it, found none");
    }
    bottoms.push_back(found->second);
    available_.erase(name);
  }
  LayerContext c(builder_, layer, std::move(bottoms),
                 weights_.Find(layer.name()));
  row->import(c);
  EMBER_RETURN_IF_ERROR(builder_.status());
  for (int i = 0; i < layer.top_size(); ++i) {
    const Tensor value = c.Output(i);
    if (!value) {
      return UnimplementedError("node '" + origin + "': top " +
                                std::to_string(i) + " is not supported");
    }
    EMBER_RETURN_IF_ERROR(SetBlob(layer, layer.top(i), value));
  }
  states_.insert(states_.end(), c.states().begin(), c.states().end());
  return OkStatus();
}

Status NetImporter::AddOutputs() {
  bool found = false;
  for (const std::string& name : available_) {
    builder_.Output(name, blobs_[name].value());
    found = true;
  }
  if (!found)
    return InvalidArgumentError("expected a net with results, found none");
  for (const LayerContext::State& state : states_) {
    builder_.Output(state.name, state.after.value(),
                    std::string(frontends::kStateType));
  }
  return builder_.status();
}

}  // namespace ember::caffe
