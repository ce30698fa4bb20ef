#include "frontends/caffe/net_importer.h"

#include <algorithm>
#include <utility>

#include "base/one_line.h"

namespace ember::caffe {
namespace {

std::string Quoted(const std::string& name) {
  return "'" + OnOneLine(name) + "'";
}

// "conv1 (Convolution)".
std::string OriginOf(const LayerParameter& layer, int index) {
  return (layer.name().empty() ? "layer " + std::to_string(index)
                               : layer.name()) +
         " (" + layer.type() + ")";
}

// What an error calls the type: of layers of type Python, which one.
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
  struct Use {
    std::string layer, reason;
    int count = 0;
  };
  std::map<std::string, Use> missing;
  for (const LayerParameter& layer : layers) {
    const LayerRow* row = FindRow(layer.type());
    const bool is_unknown_python =
        layer.type() == "Python" && !IsKnownPythonLayer(layer.python_param());
    if (row != nullptr && row->reason.empty() && !is_unknown_python) continue;
    Use& use = missing[TypeText(layer)];
    if (use.count++ == 0) use.layer = layer.name();
    if (is_unknown_python) {
      use.reason = "it is a program in Python";
    } else if (row != nullptr) {
      use.reason = row->reason;
    }
  }
  if (missing.empty()) return OkStatus();
  std::string text = "unsupported operators: ";
  bool first = true;
  for (const auto& [type, use] : missing) {
    text +=
        (first ? "" : ", ") + type + " (layer '" + use.layer + "'" +
        (use.count > 1 ? ", " + std::to_string(use.count) + " layers" : "") +
        (use.reason.empty() ? "" : "; " + use.reason) + ")";
    first = false;
  }
  return UnimplementedError(OnOneLine(text));
}

StatusOr<graph::Graph> NetImporter::Import() {
  EMBER_RETURN_IF_ERROR(AddInputs());
  int index = 0;
  for (const LayerParameter& layer : layers_)
    EMBER_RETURN_IF_ERROR(ImportLayer(layer, index++));
  EMBER_RETURN_IF_ERROR(AddOutputs());
  return builder_.Finish();
}

StatusOr<Tensor> NetImporter::AddInput(const NetInput& input) {
  const std::string what = "input " + Quoted(input.name);
  Shape shape(input.dims.begin(), input.dims.end());
  const auto pins = options_.input_shapes.find(input.name);
  if (pins == options_.input_shapes.end() && !input.has_rank) {
    return UnimplementedError(what +
                              ": expected a shape, found none in the net: "
                              "pin its dims");
  }
  if (pins != options_.input_shapes.end()) {
    if (!input.has_rank) shape.assign(pins->second.size(), Dim(-1));
    if (pins->second.size() != shape.size()) {
      return InvalidArgumentError(what + ": expected a pinned shape of rank " +
                                  std::to_string(shape.size()) +
                                  ", found rank " +
                                  std::to_string(pins->second.size()));
    }
    for (size_t i = 0; i < shape.size(); ++i) {
      if (pins->second[i]) shape[i] = Dim(*pins->second[i]);
      if (shape[i].constant() < 0) {
        return InvalidArgumentError(
            what + " axis " + std::to_string(i) +
            ": expected a pin of at least 0, found " +
            (pins->second[i] ? std::to_string(*pins->second[i]) : "none"));
      }
    }
  }
  const auto known = options_.input_values.find(input.name);
  if (known == options_.input_values.end()) {
    return Tensor(&builder_, builder_.Input(input.name, {DType::kF32, shape}));
  }
  const frontends::KnownTensor& value = known->second;
  if (value.strings || value.dtype != DType::kF32) {
    return InvalidArgumentError(
        what + ": expected type f32, found " +
        (value.strings ? "string" : std::string(DTypeName(value.dtype))));
  }
  return Tensor(&builder_, builder_.Constant(
                               DType::kF32, value.dims,
                               {.owner = value.owner, .bytes = value.bytes}));
}

Status NetImporter::AddInputs() {
  EMBER_ASSIGN_OR_RETURN(const std::vector<NetInput> inputs, InputsOf(layers_));
  for (const auto& [name, pins] : options_.input_shapes) {
    std::string names;
    bool found = false;
    for (const NetInput& input : inputs) {
      found = found || input.name == name;
      names += (names.empty() ? "" : ", ") + Quoted(input.name);
    }
    if (!found) {
      return InvalidArgumentError("pinned shape: expected one of the inputs " +
                                  names + ", found " + Quoted(name));
    }
  }
  if (inputs.empty()) {
    return InvalidArgumentError(
        "expected a net with inputs, found none: name a net for deployment");
  }
  for (const NetInput& input : inputs) {
    if (!inputs_.insert(input.name).second) {
      return InvalidArgumentError("expected inputs of different names, found " +
                                  Quoted(input.name) + " twice");
    }
    EMBER_ASSIGN_OR_RETURN(blobs_[input.name], AddInput(input));
    EMBER_RETURN_IF_ERROR(builder_.status());
  }
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
    const Tensor value = c.outputs()[static_cast<size_t>(i)];
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
