#include "frontends/keras/graph_importer.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "base/one_line.h"
#include "base/shortened.h"
#include "frontends/inputs.h"
#include "frontends/keras/dtypes.h"
#include "frontends/keras/layer_table.h"
#include "frontends/model_bytes.h"
#include "frontends/ops/errors.h"

namespace ember::keras {
namespace {

// Returns the name of the config entry that holds the shape including the
// batch; empty if there is none.
std::string_view ShapeKey(const Config& config) {
  for (const std::string_view key :
       {"batch_shape", "batch_input_shape", "build_input_shape"})
    if (config.Has(key)) return key;
  return "";
}

// Appends all tensors of an argument, with their masks, to `signals`.
void Collect(const Given& given, std::vector<Signal>& signals) {
  signals.insert(signals.end(), given.signals.begin(), given.signals.end());
}

}  // namespace

std::vector<NetworkInput> InputsOf(const Network& network) {
  std::vector<NetworkInput> inputs;
  for (const Reference& reference : network.inputs)
    inputs.push_back({network.layers[reference.layer].name,
                      &network.layers[reference.layer]});
  return inputs;
}

std::optional<size_t> RankOf(const Layer& input) {
  const std::string_view key = ShapeKey(input.config);
  if (key.empty()) return std::nullopt;
  const Config shape = input.config.Entry(key);
  if (!shape.is_list()) return std::nullopt;
  return shape.Items().size();
}

GraphImporter::GraphImporter(const Network& network, const Weights& weights,
                             int major_version,
                             const frontends::ImportOptions& options,
                             const Status& error)
    : network_(network),
      weights_(weights),
      major_version_(major_version),
      options_(options),
      error_(error),
      builder_("main", options.operation_limit),
      steps_(options.progress) {}

StatusOr<graph::Graph> GraphImporter::Import() {
  EMBER_ASSIGN_OR_RETURN(const std::vector<Signal> inputs, AddInputs());
  const std::vector<Signal> outputs =
      CallNetwork(network_, "layers/", inputs, 0);
  EMBER_RETURN_IF_ERROR(error_);
  EMBER_RETURN_IF_ERROR(builder_.status());
  AddOutputs(outputs);
  return builder_.Finish();
}

StatusOr<std::vector<Signal>> GraphImporter::AddInputs() {
  std::vector<frontends::ModelInput> inputs;
  for (const NetworkInput& input : InputsOf(network_)) {
    const Config& config = input.layer->config;
    frontends::ModelInput model_input;
    model_input.name = input.name;
    const std::string what = "input '" + OnOneLine(input.name) + "'";
    EMBER_ASSIGN_OR_RETURN(const ValueType type, InputTypeOf(config, what));
    model_input.dtype = type.dtype;
    model_input.logical_type = type.logical_type;
    if (config.Flag("sparse", false) || config.Flag("ragged", false))
      return UnimplementedError(what + ": it is sparse or ragged");
    const std::string_view key = ShapeKey(config);
    if (RankOf(*input.layer)) {
      auto& dims = model_input.dims.emplace();
      int axis = 0;
      for (const Config& dim : config.Entry(key).Items()) {
        const auto extent = dim.AsInteger();
        if (extent && *extent >= 0) {
          dims.push_back({.extent = *extent, .symbol = ""});
        } else {
          // All inputs have the same batch dim, so their first dims get the
          // same name.
          dims.push_back({.extent = 0,
                          .symbol = axis == 0
                                        ? "N"
                                        : frontends::ToIdentifier(input.name) +
                                              "_" + std::to_string(axis)});
        }
        ++axis;
      }
      if (dims.size() > static_cast<size_t>(kMaxRank))
        return DataLossError(what + ": expected at most 16 dims");
    }
    inputs.push_back(std::move(model_input));
  }
  EMBER_RETURN_IF_ERROR(error_);
  EMBER_ASSIGN_OR_RETURN(const std::vector<graph::Value*> values,
                         frontends::AddInputs(inputs, options_, builder_));
  std::vector<Signal> signals;
  for (graph::Value* value : values)
    signals.push_back({Tensor(&builder_, value), Tensor()});
  return signals;
}

Tensor GraphImporter::FindWeight(const std::string& path,
                                 graph::GraphBuilder& builder) {
  const auto made = constants_.find(path);
  if (made != constants_.end()) return made->second;
  const auto found = weights_.find(path);
  if (found == weights_.end()) return Tensor();
  const hdf5::Dataset& dataset = found->second;
  // HDF5 files need not align elements, so unaligned bytes are copied.
  const Tensor constant(
      &builder,
      builder.Constant(
          dataset.dtype, dataset.dims,
          frontends::AlignedData(
              dataset.bytes, static_cast<size_t>(DTypeByteSize(dataset.dtype)),
              dataset.owner)));
  if (constant.value() != nullptr && constant.value()->name().empty())
    constant.value()->set_name(path.substr(path.find('/') + 1));
  constants_.emplace(path, constant);
  return constant;
}

Tensor GraphImporter::State(const std::string& name, DType dtype,
                            const Shape& shape) {
  for (const Kept& kept : states_)
    if (kept.name == name) return kept.value;
  const Tensor value(
      &builder_,
      builder_.Input(name, {dtype, shape}, std::string(frontends::kStateType)));
  states_.push_back({name, value});
  return value;
}

void GraphImporter::SetState(const std::string& name, Tensor value) {
  for (Kept& kept : states_)
    if (kept.name == name) kept.value = value;
}

void GraphImporter::AddOutputs(const std::vector<Signal>& outputs) {
  std::map<std::string, int> counts;
  for (size_t i = 0; i < outputs.size() && i < network_.outputs.size(); ++i) {
    const std::string& layer = network_.layers[network_.outputs[i].layer].name;
    // An output has the name of its layer. If a layer has several outputs,
    // those after the first get a number, as in Keras.
    const int count = counts[layer]++;
    builder_.Output(count == 0 ? layer : layer + "_" + std::to_string(count),
                    outputs[i].value.value());
  }
  for (const Kept& state : states_) {
    builder_.Output(state.name, state.value.value(),
                    std::string(frontends::kStateType));
  }
}

std::vector<Signal> GraphImporter::CallNetwork(
    const Network& network, const std::string& path,
    const std::vector<Signal>& inputs, int depth) {
  if (inputs.size() != network.inputs.size()) {
    Fail(DataLossError("model '" + OnOneLine(network.name) + "': expected " +
                       std::to_string(network.inputs.size()) +
                       " inputs, found " + std::to_string(inputs.size())));
    return {};
  }
  if (!TakeCalls(network.layers.size() + network.inputs.size() +
                 network.outputs.size()))
    return {};
  const std::vector<std::string> names = StoredNames(network);
  // The results of each call of each layer. They are empty until the call is
  // imported.
  std::vector<std::vector<Results>> values;
  for (const Layer& layer : network.layers) {
    values.emplace_back(layer.calls.size());
    if (layer.network == nullptr && layer.class_name != "InputLayer")
      steps_.Expect(layer.calls.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i)
    values[network.inputs[i].layer][network.inputs[i].call] = {inputs[i]};

  // The stack of calls that are still to be imported. A call stays on the stack
  // until its operands exist.
  struct CallPosition {
    int layer, call;
  };
  std::vector<CallPosition> stack;
  std::set<std::pair<int, int>> waiting;
  for (size_t i = network.outputs.size(); i-- > 0;)
    stack.push_back({network.outputs[i].layer, network.outputs[i].call});
  while (!stack.empty() && builder_.status().ok() && error_.ok()) {
    const CallPosition at = stack.back();
    const Layer& layer = network.layers[at.layer];
    Results& results = values[at.layer][at.call];
    if (!results.empty()) {
      stack.pop_back();
      waiting.erase({at.layer, at.call});
      continue;
    }
    const Call& call = layer.calls[at.call];
    std::vector<CallPosition> missing;
    const auto visit = [&](auto& self, const Argument& argument) -> void {
      if (argument.tensor &&
          values[argument.tensor->layer][argument.tensor->call].empty())
        missing.push_back({argument.tensor->layer, argument.tensor->call});
      for (const Argument& item : argument.items) self(self, item);
    };
    for (const Argument& argument : call.arguments) visit(visit, argument);
    for (const auto& [name, argument] : call.named) visit(visit, argument);
    if (missing.empty()) {
      if (layer.class_name == "InputLayer") {
        Fail(DataLossError("layer '" + OnOneLine(layer.name) +
                           "': expected it among the model's input_layers, "
                           "found it used only"));
        return {};
      }
      results =
          MakeCall(layer, call, path + names[at.layer] + "/", values, depth);
      if (results.empty() && builder_.status().ok()) {
        Fail(DataLossError("layer '" + OnOneLine(layer.name) +
                           "': expected a result, found none"));
      }
      continue;
    }
    if (!waiting.insert({at.layer, at.call}).second) {
      Fail(DataLossError("layer '" + OnOneLine(layer.name) +
                         "': expected calls in an order, found one that needs "
                         "its own result"));
      return {};
    }
    for (size_t i = missing.size(); i-- > 0;) stack.push_back(missing[i]);
  }
  std::vector<Signal> outputs;
  for (const Reference& reference : network.outputs) {
    const Results& results = values[reference.layer][reference.call];
    if (!builder_.status().ok() || !error_.ok()) return {};
    if (static_cast<size_t>(reference.result) >= results.size()) {
      Fail(DataLossError(
          "layer '" + OnOneLine(network.layers[reference.layer].name) +
          "': expected result " + std::to_string(reference.result) +
          " of it, found " + std::to_string(results.size()) + " results"));
      return {};
    }
    outputs.push_back(results[static_cast<size_t>(reference.result)]);
  }
  return outputs;
}

namespace {

size_t CountOf(const Argument& argument) {
  size_t count = 1;
  for (const Argument& item : argument.items) count += CountOf(item);
  return count;
}

// Resolves an argument's references to tensors; false if a reference names a
// result that does not exist.
bool Resolve(const Argument& argument,
             const std::vector<std::vector<std::vector<Signal>>>& values,
             Given& given) {
  given.constant = argument.constant;
  given.is_list = argument.is_list;
  if (argument.tensor) {
    const std::vector<Signal>& results =
        values[argument.tensor->layer][argument.tensor->call];
    if (static_cast<size_t>(argument.tensor->result) >= results.size())
      return false;
    given.signals.push_back(
        results[static_cast<size_t>(argument.tensor->result)]);
  }
  for (const Argument& item : argument.items) {
    Given inner;
    if (!Resolve(item, values, inner)) return false;
    given.signals.insert(given.signals.end(), inner.signals.begin(),
                         inner.signals.end());
    given.items.push_back(std::move(inner));
  }
  return true;
}

}  // namespace

GraphImporter::Results GraphImporter::MakeCall(
    const Layer& layer, const Call& call, const std::string& path,
    const std::vector<std::vector<Results>>& values, int depth) {
  LayerContext c(*this, builder_, layer, path, depth);
  const auto resolve = [&](const Argument& argument, Given& given) {
    if (!TakeCalls(CountOf(argument))) return false;
    if (Resolve(argument, values, given)) return true;
    Fail(DataLossError("layer '" + OnOneLine(layer.name) +
                       "': expected results that the layers before it have"));
    return false;
  };
  for (const Argument& argument : call.arguments) {
    Given given;
    if (!resolve(argument, given)) return {};
    // The tensors of positional arguments are the layer's inputs. Functions of
    // Keras 2 pass their first argument here, even if it is a list.
    Collect(given, c.inputs);
    c.arguments.push_back(std::move(given));
  }
  for (const auto& [name, argument] : call.named) {
    Given given;
    if (!resolve(argument, given)) return {};
    // If no positional argument has tensors, the layer's inputs are those of
    // the first named argument "inputs" or "x" that has some.
    if (c.inputs.empty() && (name == "inputs" || name == "x"))
      Collect(given, c.inputs);
    c.named.emplace_back(name, std::move(given));
  }
  return Run(c);
}

std::vector<Signal> GraphImporter::CallLayer(const Layer& layer,
                                             const std::string& path,
                                             const std::vector<Signal>& inputs,
                                             int depth) {
  LayerContext c(*this, builder_, layer, path, depth);
  c.inputs = inputs;
  for (const Signal& input : inputs)
    c.arguments.push_back({.signals = {input}, .constant = {}, .items = {}});
  return Run(c);
}

bool GraphImporter::TakeCalls(size_t count) {
  calls_left_ -= static_cast<int64_t>(count);
  if (calls_left_ >= 0) return true;
  Fail(ResourceExhaustedError("expected at most " + std::to_string(kMaxCalls) +
                              " calls of layers, arguments of them and layers "
                              "of models that are called"));
  return false;
}

GraphImporter::Results GraphImporter::Run(LayerContext& c) {
  const Layer& layer = c.layer();
  if (!TakeCalls(1)) return {};
  if (layer.network != nullptr) {
    if (c.depth() >= kMaxNesting) {
      Fail(ResourceExhaustedError("models within models: nested too deeply"));
      return {};
    }
    return CallNetwork(*layer.network, c.path() + "layers/", c.inputs,
                       c.depth() + 1);
  }
  // The importer of a layer that wraps others may call them after one has
  // failed; such calls do nothing.
  if (!builder_.status().ok()) return {};
  if (const Status going = steps_.Begin(ClassNameOf(layer)); !going.ok()) {
    Fail(going);
    return {};
  }
  builder_.SetOrigin(OnOneLine(Shortened(layer.name, kLongestName)) + " (" +
                     ClassNameOf(layer) + ")");
  const LayerRow* row = FindRow(layer);
  if (row == nullptr || row->import == nullptr) {
    Fail(UnimplementedError("unsupported layer " + ClassNameOf(layer)));
    return {};
  }
  StatusOr<std::optional<DType>> compute = ComputeTypeOf(layer.config);
  if (!compute.ok()) {
    ops::Fail(builder_, compute.status());
    return {};
  }
  // A layer computes in its own type, to which incoming floats are cast.
  if (*compute) {
    c.set_compute_type(**compute);
    for (Signal& input : c.inputs)
      if (input.value.is_float()) input.value = Cast(input.value, **compute);
    for (Given& given : c.arguments) {
      for (Signal& signal : given.signals)
        if (signal.value.is_float())
          signal.value = Cast(signal.value, **compute);
    }
  }
  row->import(c);
  if (!builder_.status().ok() || !error_.ok()) return {};
  Results results = std::move(c.outputs());
  for (const Signal& result : results) {
    if (!result.value) {
      ops::FailInvalid(builder_, "expected a result, found none");
      return {};
    }
    if (result.value.value() != nullptr && result.value.value()->name().empty())
      result.value.value()->set_name(Shortened(layer.name, kLongestName));
  }
  if (row->masking == Masking::kPass && !results.empty() && !c.inputs.empty()) {
    // A step is kept if the masks of all inputs keep it. An input without a
    // mask removes the result's mask.
    Tensor mask = c.inputs[0].mask;
    for (size_t i = 1; i < c.inputs.size() && mask; ++i)
      mask = c.inputs[i].mask ? And(mask, c.inputs[i].mask) : Tensor();
    results[0].mask = mask;
  }
  return results;
}

}  // namespace ember::keras
