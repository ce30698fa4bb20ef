#include "frontends/torch_export/program_importer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/one_line.h"
#include "frontends/ops/compositions.h"
#include "frontends/torch_export/extents.h"
#include "frontends/torch_export/targets.h"
#include "frontends/torchscript/call.h"

namespace ember::torch_export {
namespace {

using Kind = Value::Kind;
using torchscript::Machine;
using torchscript::StoredTensor;
using torchscript::Tensor;

std::string InputText(std::string_view name) {
  return "input '" + OnOneLine(name) + "'";
}

StatusOr<frontends::ModelDim> ModelDimOf(const Extent& extent) {
  if (extent.expression.empty()) {
    if (extent.number < 0) {
      return DataLossError("expected an extent from 0 on, found " +
                           std::to_string(extent.number));
    }
    return frontends::ModelDim{.extent = extent.number};
  }
  EMBER_ASSIGN_OR_RETURN(const graph::Dim dim, ParseExtent(extent.expression));
  if (dim.is_constant()) return frontends::ModelDim{.extent = dim.constant()};
  const std::set<std::string> symbols = dim.Symbols();
  const std::string& symbol = *symbols.begin();
  if (dim == graph::Dim::Symbol(symbol))
    return frontends::ModelDim{.symbol = symbol};
  return frontends::ModelDim{.expression = dim};
}

StatusOr<DType> DTypeOf(int64_t scalar_type) {
  const std::optional<DType> dtype =
      torchscript::DTypeOfScalarType(scalar_type);
  if (dtype) return *dtype;
  return UnimplementedError(
      "expected a type of integers, floats or booleans, found ScalarType " +
      std::to_string(scalar_type));
}

// True if all elements of a tensor are 0. It looks at all bytes of the storage
// from the tensor's first to its last element.
bool IsZero(const StoredTensor& stored) {
  if (std::find(stored.dims.begin(), stored.dims.end(), 0) != stored.dims.end())
    return true;
  int64_t last = 0;
  for (size_t i = 0; i < stored.dims.size(); ++i) {
    last += (stored.dims[i] - 1) * stored.strides[i];
  }
  const auto bytes = stored.storage.first(static_cast<size_t>(
      (last + 1) * static_cast<int64_t>(DTypeByteSize(stored.dtype))));
  return std::all_of(bytes.begin(), bytes.end(),
                     [](uint8_t byte) { return byte == 0; });
}

graph::TensorType TypeOf(const StoredTensor& stored) {
  return {stored.dtype, {stored.dims.begin(), stored.dims.end()}};
}

}  // namespace

bool ProgramImporter::IsUserInput(size_t i) const {
  using ArgumentKind = Argument::Kind;
  const ArgumentKind kind = program_.graph.inputs[i].kind;
  return program_.inputs[i].kind == InputSpec::Kind::kUser &&
         (kind == ArgumentKind::kTensor || kind == ArgumentKind::kSymbol);
}

StatusOr<std::vector<frontends::ModelInput>> ProgramImporter::Inputs() const {
  std::vector<frontends::ModelInput> inputs;
  for (size_t i = 0; i < program_.inputs.size(); ++i) {
    if (!IsUserInput(i)) continue;
    const Argument& argument = program_.graph.inputs[i];
    frontends::ModelInput input;
    input.name = argument.text;
    input.dims.emplace();
    if (argument.kind == Argument::Kind::kSymbol) {
      input.dtype = DType::kI64;
      inputs.push_back(std::move(input));
      continue;
    }
    const auto meta = program_.graph.tensors.find(argument.text);
    if (meta == program_.graph.tensors.end()) {
      return DataLossError(InputText(input.name) +
                           ": expected its type among the tensor_values, found "
                           "none");
    }
    StatusOr<DType> dtype = DTypeOf(meta->second.scalar_type);
    if (!dtype.ok()) return dtype.status().WithContext(InputText(input.name));
    input.dtype = *dtype;
    for (const Extent& size : meta->second.sizes) {
      StatusOr<frontends::ModelDim> dim = ModelDimOf(size);
      if (!dim.ok()) return dim.status().WithContext(InputText(input.name));
      input.dims->push_back(*std::move(dim));
    }
    if (input.dims->size() > static_cast<size_t>(ops::kMaxRank)) {
      return UnimplementedError(InputText(input.name) + ": expected at most " +
                                std::to_string(ops::kMaxRank) +
                                " dims, found " +
                                std::to_string(input.dims->size()));
    }
    inputs.push_back(std::move(input));
  }
  return inputs;
}

Status ProgramImporter::CheckRanges(
    const std::vector<frontends::ModelInput>& inputs,
    const std::vector<graph::Value*>& values,
    graph::GraphBuilder& builder) const {
  std::set<std::string> seen;
  for (size_t k = 0; k < inputs.size(); ++k) {
    const std::vector<frontends::ModelDim>& dims = *inputs[k].dims;
    for (size_t i = 0; i < dims.size(); ++i) {
      const auto range = program_.ranges.find(dims[i].symbol);
      if (range == program_.ranges.end()) continue;
      if (!seen.insert(dims[i].symbol).second) continue;
      const graph::Dim& dim = values[k]->type().shape[i];
      // torch.export assumes that open dims are at least 2, to avoid the
      // special cases 0 and 1. So a lower bound of up to 2 is no requirement of
      // the model, and is not checked.
      std::string text;
      std::vector<Tensor> checks;
      const Tensor extent = ops::DimScalar(builder, dim);
      std::optional<int64_t> least = range->second.least;
      if (least && *least <= 2) least.reset();
      if (least) {
        text = "at least " + std::to_string(*least);
        checks.push_back(ops::LessEqual(static_cast<double>(*least), extent));
      }
      if (range->second.largest) {
        text += (text.empty() ? "at most " : " and at most ") +
                std::to_string(*range->second.largest);
        checks.push_back(ops::LessEqual(
            extent, static_cast<double>(*range->second.largest)));
      }
      const std::string what = InputText(inputs[k].name) + " axis " +
                               std::to_string(i) + ": expected " + text;
      const bool is_outside =
          dim.is_constant() &&
          ((least && dim.constant() < *least) ||
           (range->second.largest && dim.constant() > *range->second.largest));
      if (is_outside) {
        return InvalidArgumentError(what + ", found " + dim.ToString());
      }
      if (dim.is_constant()) continue;
      for (const Tensor& check : checks) builder.Require(check.value(), what);
    }
  }
  return builder.status();
}

std::vector<graph::Value*> ProgramImporter::Related(
    const std::vector<frontends::ModelInput>& inputs,
    std::vector<graph::Value*> values, graph::GraphBuilder& builder) {
  // Maps a symbol to the dim of an input that is exactly this symbol. A symbol
  // without an entry occurs only within expressions.
  std::map<std::string, graph::Dim> known;
  for (size_t k = 0; k < inputs.size(); ++k)
    for (size_t i = 0; i < inputs[k].dims->size(); ++i)
      if (const std::string& symbol = (*inputs[k].dims)[i].symbol;
          !symbol.empty())
        known.emplace(symbol, values[k]->type().shape[i]);
  for (size_t k = 0; k < inputs.size(); ++k) {
    for (size_t i = 0; i < inputs[k].dims->size(); ++i) {
      const std::optional<graph::Dim>& expression =
          (*inputs[k].dims)[i].expression;
      if (!expression) continue;
      const std::set<std::string> symbols = expression->Symbols();
      if (!std::all_of(symbols.begin(), symbols.end(),
                       [&](const std::string& symbol) {
                         return known.contains(symbol);
                       }))
        continue;
      const graph::Dim expected = expression->Substitute(known);
      const graph::Dim& found = values[k]->type().shape[i];
      builder.SetOrigin(InputText(inputs[k].name));
      if (expected.is_constant() && found.is_constant() && expected != found) {
        builder.Fail(InvalidArgumentError(
            InputText(inputs[k].name) + " axis " + std::to_string(i) +
            ": expected " + expected.ToString() + ", which is " +
            expression->ToString() + ", found " + found.ToString()));
        return values;
      }
      values[k] = ops::WithDim(Tensor(&builder, values[k]), static_cast<int>(i),
                               expected)
                      .value();
      if (values[k] == nullptr) return values;
    }
  }
  return values;
}

std::string ProgramImporter::FlagName() const {
  std::string name = "started";
  while (states_.contains(name)) name += "_";
  return name;
}

Status ProgramImporter::AddState(graph::GraphBuilder& builder) {
  const std::string type(frontends::kStateType);
  bool has_flag = false;
  for (auto& [name, state] : states_) {
    EMBER_RETURN_IF_ERROR(shared_.CheckWrite(name));
    EMBER_ASSIGN_OR_RETURN(state.initial, file_.FindTensor(name));
    state.before =
        Tensor(&builder, builder.Input(name, TypeOf(state.initial), type));
    has_flag |= !IsZero(state.initial);
  }
  started_ = Tensor();
  if (has_flag) {
    started_ =
        Tensor(&builder, builder.Input(FlagName(), {DType::kBool, {}}, type));
  }
  return builder.status();
}

StatusOr<Value> ProgramImporter::StoredValue(const std::string& name,
                                             Machine& machine) {
  const auto state = states_.find(name);
  if (state == states_.end()) {
    EMBER_ASSIGN_OR_RETURN(const StoredTensor stored, file_.FindTensor(name));
    return torchscript::NewStored(stored, name, machine);
  }
  Tensor value = state->second.before;
  if (started_ && !IsZero(state->second.initial)) {
    value = ops::Select(
        started_, value,
        torchscript::AddStored(state->second.initial, name, machine.builder()));
  }
  return machine.NewTensor(value);
}

StatusOr<std::vector<Value>> ProgramImporter::InputValues(
    const std::vector<graph::Value*>& user, Machine& machine,
    GraphImporter& importer) {
  std::vector<Value> values;
  // Values of the archive's tensors that were used so far, by
  // SharedStorages::FirstOf of their name.
  std::map<std::string, Value> stored;
  size_t next = 0;
  for (size_t i = 0; i < program_.inputs.size(); ++i) {
    const InputSpec& spec = program_.inputs[i];
    const Argument& argument = program_.graph.inputs[i];
    switch (spec.kind) {
      case InputSpec::Kind::kUser:
      case InputSpec::Kind::kConstant:
        if (!IsUserInput(i)) {
          values.push_back(importer.Known(argument));
        } else if (argument.kind == Argument::Kind::kSymbol) {
          values.push_back(machine.ToNumber(
              Kind::kInt, Tensor(&machine.builder(), user[next++])));
        } else {
          values.push_back(
              machine.NewTensor(Tensor(&machine.builder(), user[next++])));
        }
        break;
      case InputSpec::Kind::kParameter:
      case InputSpec::Kind::kBuffer:
      case InputSpec::Kind::kTensorConstant: {
        const std::string& first = shared_.FirstOf(spec.name);
        const auto [known, is_new] = stored.try_emplace(first);
        if (is_new) {
          EMBER_ASSIGN_OR_RETURN(known->second, StoredValue(first, machine));
        }
        values.push_back(known->second);
        break;
      }
      case InputSpec::Kind::kToken:
        values.push_back(Value::None());
        break;
      case InputSpec::Kind::kObject:
        values.push_back(
            Value::Text(Kind::kConflict, "the object '" + OnOneLine(spec.name) +
                                             "', which is not supported"));
        break;
    }
    if (!machine.ok()) return machine.status();
  }
  return values;
}

StatusOr<ProgramImporter::Results> ProgramImporter::Sort(
    const std::vector<Value>& inputs, const std::vector<uint64_t>& stamps,
    const std::vector<Value>& outputs, Machine& machine) {
  Results results;
  const auto add = [&](const std::string& name, const Value& value) {
    results.names.push_back(name);
    results.values.push_back(machine.ToTensor(value).value());
  };
  // Names of the inputs whose new contents are a result because the program
  // lists them as outputs.
  std::set<std::string> mutated;
  const auto users =
      std::count_if(program_.outputs.begin(), program_.outputs.end(),
                    [](const OutputSpec& spec) {
                      return spec.kind == OutputSpec::Kind::kUser;
                    });
  const bool has_names =
      program_.result_names.size() == static_cast<size_t>(users);
  size_t user = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const OutputSpec& spec = program_.outputs[i];
    const Argument& argument = program_.graph.outputs[i];
    switch (spec.kind) {
      case OutputSpec::Kind::kUser: {
        std::string name = has_names ? program_.result_names[user] : "";
        if (name.empty()) name = argument.text;
        if (name.empty()) name = "output_" + std::to_string(user);
        ++user;
        if (outputs[i].is_none() || outputs[i].is(Kind::kString)) break;
        add(name, outputs[i]);
        break;
      }
      case OutputSpec::Kind::kBufferMutation:
        states_[shared_.FirstOf(spec.name)].after =
            machine.ToTensor(outputs[i]);
        break;
      case OutputSpec::Kind::kInputMutation:
        mutated.insert(spec.name);
        add(spec.name + "_after", outputs[i]);
        break;
      case OutputSpec::Kind::kGradient:
        return UnimplementedError(
            "output_specs: expected a program without gradients, found that "
            "of '" +
            OnOneLine(spec.name) + "'");
      case OutputSpec::Kind::kToken:
        break;
    }
    if (!machine.ok()) return machine.status();
  }
  // A changed stamp shows that an operator wrote to this input in place. A
  // user's input then gets a result, a buffer becomes state.
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].is_tensor() || inputs[i].cell->stamp == stamps[i]) continue;
    const std::string& name = program_.graph.inputs[i].text;
    if (program_.inputs[i].kind == InputSpec::Kind::kUser) {
      if (!mutated.contains(name)) add(name + "_after", inputs[i]);
      continue;
    }
    const auto [state, is_new] =
        states_.emplace(shared_.FirstOf(program_.inputs[i].name), State());
    has_news_ |= is_new;
    if (!state->second.after)
      state->second.after = machine.Read(*inputs[i].cell);
  }
  if (!machine.ok()) return machine.status();
  return results;
}

Status ProgramImporter::AddOutputs(const Results& results,
                                   graph::GraphBuilder& builder) {
  std::set<std::string> used;
  for (const auto& [name, state] : states_) used.insert(name);
  if (started_) used.insert(FlagName());
  // For each name that occurred more than once: the last number that was
  // appended to make it unique.
  std::map<std::string, int> last;
  for (size_t i = 0; i < results.values.size(); ++i) {
    std::string name = results.names[i];
    for (int& k = last.try_emplace(name, 1).first->second;
         !used.insert(name).second;)
      name = results.names[i] + "_" + std::to_string(++k);
    builder.Output(name, results.values[i]);
  }
  const std::string type(frontends::kStateType);
  for (const auto& [name, state] : states_) {
    // A state that this run of the graph did not write keeps its value.
    const Tensor after = state.after ? state.after : state.before;
    if (after.value() == nullptr) return builder.status();
    if (after.value()->type() != TypeOf(state.initial)) {
      return UnimplementedError(
          "buffer '" + OnOneLine(name) + "': expected " +
          graph::ToString(TypeOf(state.initial)) +
          " after every call, as before the first, found " +
          graph::ToString(after.value()->type()));
    }
    builder.Output(name, after.value(), type);
  }
  if (started_)
    builder.Output(FlagName(), builder.Scalar(1, DType::kBool), type);
  return builder.status();
}

StatusOr<graph::Graph> ProgramImporter::ImportOnce() {
  EMBER_ASSIGN_OR_RETURN(const std::vector<frontends::ModelInput> inputs,
                         Inputs());
  graph::GraphBuilder builder("main", options_.operation_limit);
  EMBER_ASSIGN_OR_RETURN(const std::vector<graph::Value*> user,
                         frontends::AddInputs(inputs, options_, builder));
  EMBER_RETURN_IF_ERROR(AddState(builder));
  EMBER_RETURN_IF_ERROR(CheckRanges(inputs, user, builder));
  const std::vector<graph::Value*> related = Related(inputs, user, builder);
  EMBER_RETURN_IF_ERROR(builder.status());
  Machine machine(builder);
  GraphImporter importer(machine, steps_);
  EMBER_ASSIGN_OR_RETURN(const std::vector<Value> values,
                         InputValues(related, machine, importer));
  std::vector<uint64_t> stamps;
  for (const Value& value : values)
    stamps.push_back(value.is_tensor() ? value.cell->stamp : 0);
  const std::vector<Value> outputs = importer.Run(program_.graph, values);
  if (!machine.ok()) return machine.status();
  EMBER_ASSIGN_OR_RETURN(const Results results,
                         Sort(values, stamps, outputs, machine));
  if (has_news_) return graph::Graph("main");
  if (results.values.empty() && states_.empty()) {
    return InvalidArgumentError(
        "expected a program with results, found one without");
  }
  EMBER_RETURN_IF_ERROR(AddOutputs(results, builder));
  return builder.Finish();
}

StatusOr<graph::Graph> ProgramImporter::Import() {
  EMBER_RETURN_IF_ERROR(CheckTargets(program_.graph));
  steps_.Expect(program_.graph.nodes.size());
  for (const OutputSpec& output : program_.outputs)
    if (output.kind == OutputSpec::Kind::kBufferMutation)
      states_.emplace(shared_.FirstOf(output.name), State());
  // Running the graph may show that another buffer is written in place. It
  // becomes state, and the graph is imported again.
  for (size_t round = 0; round <= program_.inputs.size(); ++round) {
    has_news_ = false;
    for (auto& [name, state] : states_) state.after = Tensor();
    StatusOr<graph::Graph> graph = ImportOnce();
    if (!graph.ok() || !has_news_) return graph;
    steps_.StartOver();
  }
  return InternalError("expected buffers that are written to be found at once");
}

}  // namespace ember::torch_export
