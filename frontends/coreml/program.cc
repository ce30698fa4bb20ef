// Imports ML programs (MIL), which are lists of operations on named values.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/one_line.h"
#include "frontends/coreml/importer.h"
#include "frontends/coreml/mil_operation.h"
#include "frontends/coreml/mil_values.h"
#include "frontends/coreml/scope.h"
#include "frontends/frontend.h"

namespace ember::coreml {
namespace {

using graph::Value;

// Returns the block of the function "main", or of the only function.
ProtobufView MainFunction(const ProtobufView& program) {
  const ProtobufView main = Entry(program, 2, "main");
  if (!main.empty()) return main;
  const std::vector<ProtobufView> functions = program.Messages(2);
  return functions.size() == 1 ? functions[0].Message(2) : ProtobufView();
}

ProtobufView BlockOf(const ProtobufView& function) {
  const ProtobufView block = Entry(function, 3, function.Text(2));
  if (!block.empty()) return block;
  const std::vector<ProtobufView> blocks = function.Messages(3);
  return blocks.size() == 1 ? blocks[0].Message(2) : ProtobufView();
}

// Numbers of the fields of an operation (its blocks) and of a block (its
// inputs, outputs and operations).
constexpr uint64_t kOperationBlocks = 4;
constexpr uint64_t kBlockInputs = 1, kBlockOutputs = 2, kBlockOperations = 3;

bool IsControl(std::string_view type) {
  return type == kMilCond || type == kMilWhile;
}

bool IsOfState(std::string_view type) {
  return type == kMilReadState || type == kMilUpdateState;
}

class ProgramImporter {
 public:
  explicit ProgramImporter(ModelContext& context) : context_(context) {}

  Status ImportBlock(const ProtobufView& block, Scope& values) {
    EMBER_RETURN_IF_ERROR(values.CheckDepth());
    const std::vector<ProtobufView> operations =
        block.Messages(kBlockOperations);
    context_.steps.Expect(operations.size());
    for (const ProtobufView& operation : operations)
      EMBER_RETURN_IF_ERROR(Import(operation, values));
    return OkStatus();
  }

 private:
  Status Import(const ProtobufView& operation, Scope& values) {
    const std::string type = operation.Text(1);
    EMBER_RETURN_IF_ERROR(context_.steps.Begin(type));
    EMBER_RETURN_IF_ERROR(values.CountStep(steps_));
    std::vector<std::string> outputs;
    for (const ProtobufView& output : operation.Messages(3))
      outputs.push_back(output.Text(1));
    const std::string origin = (outputs.empty() ? "?" : OnOneLine(outputs[0])) +
                               " (" + OnOneLine(type) + ")";
    values.builder().SetOrigin(origin);
    // Adds the name of this operation to an error. An error inside of one of
    // its blocks already names the inner operation, and stays as it is.
    const auto named = [&](const Status& status) {
      if (!status.ok() && values.builder().status().ok())
        return status.WithContext("node '" + origin + "'");
      return status;
    };
    if (type == kMilConst) return named(Constant(operation, outputs, values));
    StatusOr<MilInputs> inputs = InputsOf(operation, type, values);
    if (!inputs.ok()) return named(inputs.status());
    if (type == kMilReadState)
      return named(ReadState(*inputs, outputs, values));
    if (type == kMilUpdateState)
      return named(UpdateState(operation, *inputs, outputs, values));
    if (!IsControl(type))
      return named(Call(type, *std::move(inputs), outputs, values));
    const Status status = type == kMilCond
                              ? Cond(operation, *inputs, outputs, values)
                              : While(operation, *inputs, outputs, values);
    EMBER_RETURN_IF_ERROR(values.builder().status());
    return status;
  }

  Status Constant(const ProtobufView& operation,
                  const std::vector<std::string>& outputs, Scope& values) {
    ProtobufView value = Entry(operation, 5, "val");
    // Old files hold the value of a const operation among its inputs instead of
    // its attributes.
    if (value.empty()) {
      const std::vector<ProtobufView> bindings =
          Entry(operation, 2, "val").Messages(1);
      if (!bindings.empty()) value = bindings[0].Message(2);
    }
    if (outputs.size() != 1) return DataLossError("expected one output");
    EMBER_ASSIGN_OR_RETURN(MilValue constant,
                           ReadValue(context_, values.builder(), value));
    values.Set(outputs[0], std::move(constant));
    return values.builder().status();
  }

  StatusOr<MilInputs> InputsOf(const ProtobufView& operation,
                               const std::string& type, Scope& values) {
    MilInputs inputs;
    for (const ProtobufView& entry : operation.Messages(2)) {
      const std::string input = entry.Text(1);
      // Two inputs of the same name are an error: a lookup by name would find
      // only the first.
      if (inputs.contains(input)) {
        return DataLossError("expected input '" + OnOneLine(input) +
                             "' once, found it twice");
      }
      std::vector<MilValue>& list = inputs[input];
      for (const ProtobufView& binding : entry.Message(2).Messages(1)) {
        if (binding.Has(2)) {
          EMBER_ASSIGN_OR_RETURN(
              MilValue value,
              ReadValue(context_, values.builder(), binding.Message(2)));
          list.push_back(std::move(value));
          continue;
        }
        const std::string name = binding.Text(1);
        const MilValue* found = values.Find(name);
        if (found == nullptr)
          return values.Missing(name, "value", "an operation");
        list.push_back(*found);
      }
    }
    // Operations named constexpr_… make constants from compressed data. Their
    // operands (data, scale, …) may be attributes instead of inputs.
    if (type.starts_with("constexpr_")) {
      for (const ProtobufView& entry : operation.Messages(5)) {
        if (entry.Text(1) == "name") continue;
        EMBER_ASSIGN_OR_RETURN(
            MilValue value,
            ReadValue(context_, values.builder(), entry.Message(2)));
        inputs[entry.Text(1)] = {std::move(value)};
      }
    }
    EMBER_RETURN_IF_ERROR(values.builder().status());
    return inputs;
  }

  static Status Call(const std::string& type, MilInputs inputs,
                     const std::vector<std::string>& outputs, Scope& values) {
    const MilRow* row = FindMil(type);
    if (row == nullptr)
      return UnimplementedError("unsupported operator " + OnOneLine(type));
    MilOperation o(values.builder(), std::move(inputs), outputs.size());
    row->import(o);
    EMBER_RETURN_IF_ERROR(values.builder().status());
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!o.outputs()[i].tensor)
        return UnimplementedError("output " + std::to_string(i) +
                                  " is not supported");
      values.Set(outputs[i], o.outputs()[i]);
    }
    return OkStatus();
  }

  // Returns the value of an input, which must have exactly one: a state if
  // `is_state` is true, otherwise a tensor that is no state.
  static StatusOr<MilValue> OneOf(const MilInputs& inputs,
                                  std::string_view name, bool is_state) {
    const auto found = inputs.find(name);
    if (found != inputs.end() && found->second.size() == 1 &&
        found->second[0].tensor && found->second[0].is_state == is_state)
      return found->second[0];
    return DataLossError("input '" + std::string(name) + "': expected a " +
                         (is_state ? "state" : "tensor") + ", found none");
  }

  static Status ReadState(const MilInputs& inputs,
                          const std::vector<std::string>& outputs,
                          Scope& values) {
    EMBER_ASSIGN_OR_RETURN(const MilValue state,
                           OneOf(inputs, "input", /*is_state=*/true));
    if (outputs.size() != 1) return DataLossError("expected one output");
    values.Set(outputs[0], {.tensor = state.tensor});
    return OkStatus();
  }

  Status UpdateState(const ProtobufView& operation, const MilInputs& inputs,
                     const std::vector<std::string>& outputs, Scope& values) {
    EMBER_ASSIGN_OR_RETURN(const MilValue state,
                           OneOf(inputs, "state", /*is_state=*/true));
    EMBER_ASSIGN_OR_RETURN(const MilValue value,
                           OneOf(inputs, "value", /*is_state=*/false));
    if (values.depth() > 0) {
      return UnimplementedError(
          "expected a state that is updated outside of branches and loops, "
          "found one within");
    }
    if (value.tensor.shape() != state.tensor.shape()) {
      return DataLossError("input 'value': expected the state's dims " +
                           graph::ShapeToString(state.tensor.shape()) +
                           ", found " +
                           graph::ShapeToString(value.tensor.shape()));
    }
    const Tensor next = Cast(value.tensor, state.tensor.dtype());
    const std::string name =
        Entry(operation, 2, "state").Messages(1)[0].Text(1);
    values.Set(name, {.tensor = next, .is_state = true});
    for (ModelState& kept : context_.states)
      if (kept.name == name) kept.value = next;
    if (!outputs.empty()) values.Set(outputs[0], {.tensor = next});
    return values.builder().status();
  }

  // Returns the two blocks of an operation that must have two.
  static StatusOr<std::vector<ProtobufView>> BlocksOf(
      const ProtobufView& operation, const std::string& origin) {
    std::vector<ProtobufView> blocks = operation.Messages(kOperationBlocks);
    if (blocks.size() == 2) return blocks;
    return DataLossError("node '" + origin + "': expected 2 blocks, found " +
                         std::to_string(blocks.size()));
  }

  // Imports a block and returns its outputs, which must be tensors.
  StatusOr<std::vector<MilValue>> Run(const ProtobufView& block,
                                      size_t expected, Scope& values) {
    const std::string origin = values.builder().origin();
    EMBER_RETURN_IF_ERROR(ImportBlock(block, values));
    values.builder().SetOrigin(origin);
    const std::string where = "node '" + origin + "'";
    const std::vector<std::string> names = block.Texts(kBlockOutputs);
    if (names.size() != expected) {
      return DataLossError(where + ": expected a block of " +
                           std::to_string(expected) + " outputs, found " +
                           std::to_string(names.size()));
    }
    std::vector<MilValue> outputs;
    for (const std::string& name : names) {
      const MilValue* found = values.Find(name);
      if (found == nullptr || !found->tensor)
        return values.Missing(name, "tensor", "the block").WithContext(where);
      outputs.push_back(*found);
    }
    EMBER_RETURN_IF_ERROR(values.builder().status());
    return outputs;
  }

  static Tensor AsCondition(const Tensor& x) {
    return Cast(Reshape(x, {}), DType::kBool);
  }

  Status Cond(const ProtobufView& operation, const MilInputs& inputs,
              const std::vector<std::string>& outputs, Scope& values) {
    const std::string origin = values.builder().origin();
    const auto predicate = inputs.find("pred");
    if (predicate == inputs.end() || predicate->second.size() != 1 ||
        !predicate->second[0].tensor)
      return DataLossError("node '" + origin +
                           "': expected an input 'pred', found none");
    EMBER_ASSIGN_OR_RETURN(const std::vector<ProtobufView> blocks,
                           BlocksOf(operation, origin));
    const Tensor condition = AsCondition(predicate->second[0].tensor);
    EMBER_RETURN_IF_ERROR(values.builder().status());
    graph::IfRegions regions(values.builder());
    Scope then(values, regions.then());
    EMBER_ASSIGN_OR_RETURN(const std::vector<MilValue> yes,
                           Run(blocks[0], outputs.size(), then));
    Scope otherwise(values, regions.otherwise());
    EMBER_ASSIGN_OR_RETURN(const std::vector<MilValue> no,
                           Run(blocks[1], outputs.size(), otherwise));
    std::vector<Value*> then_values, else_values;
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Tensor &a = yes[i].tensor, &b = no[i].tensor;
      if (a.dtype() != b.dtype() || a.rank() != b.rank()) {
        return DataLossError("node '" + origin + "': output " +
                             std::to_string(i) +
                             ": expected blocks that give one type, found " +
                             graph::ToString(a.value()->type()) + " and " +
                             graph::ToString(b.value()->type()));
      }
      then_values.push_back(a.value());
      else_values.push_back(b.value());
    }
    if (outputs.empty()) return OkStatus();
    SetAll(outputs, regions.Build(condition.value(), then_values, else_values),
           yes, values);
    return values.builder().status();
  }

  Status While(const ProtobufView& operation, const MilInputs& inputs,
               const std::vector<std::string>& outputs, Scope& values) {
    const std::string origin = values.builder().origin();
    EMBER_ASSIGN_OR_RETURN(const std::vector<ProtobufView> blocks,
                           BlocksOf(operation, origin));
    const auto variables = inputs.find("loop_vars");
    const std::vector<MilValue> before =
        variables != inputs.end() ? variables->second : std::vector<MilValue>{};
    if (before.size() != outputs.size()) {
      return DataLossError(
          "node '" + origin + "': expected " + std::to_string(outputs.size()) +
          " loop_vars, found " + std::to_string(before.size()));
    }
    graph::LoopRequest request;
    request.conditional = true;
    for (const MilValue& value : before) {
      if (!value.tensor)
        return DataLossError("node '" + origin +
                             "': loop_vars: expected tensors, found a text");
      request.carried.push_back(value.tensor.value());
    }
    // Imports block `number` with the given values as its inputs, in a new
    // scope.
    const auto run = [&](size_t number, size_t results,
                         const std::vector<MilValue>& given,
                         Scope& around) -> StatusOr<std::vector<MilValue>> {
      Scope inner(around);
      const std::vector<ProtobufView> names =
          blocks[number].Messages(kBlockInputs);
      if (names.size() != given.size()) {
        return DataLossError("node '" + origin + "': expected a block of " +
                             std::to_string(given.size()) + " inputs, found " +
                             std::to_string(names.size()));
      }
      for (size_t i = 0; i < names.size(); ++i)
        inner.Set(names[i].Text(1), given[i]);
      return Run(blocks[number], results, inner);
    };
    const auto holds = [&](const std::vector<MilValue>& given,
                           Scope& around) -> StatusOr<Value*> {
      EMBER_ASSIGN_OR_RETURN(const std::vector<MilValue> results,
                             run(0, 1, given, around));
      return AsCondition(results[0].tensor).value();
    };
    EMBER_ASSIGN_OR_RETURN(request.condition, holds(before, values));
    const auto build_iteration = [&](Scope& inner, const graph::LoopInputs& in,
                                     graph::LoopOutputs& out) -> Status {
      std::vector<MilValue> given = before;
      for (size_t i = 0; i < given.size(); ++i)
        given[i].tensor = Tensor(&inner.builder(), in.carried[i]);
      EMBER_ASSIGN_OR_RETURN(std::vector<MilValue> after,
                             run(1, given.size(), given, inner));
      EMBER_ASSIGN_OR_RETURN(out.proceed, holds(after, inner));
      for (const MilValue& value : after)
        out.carried.push_back(value.tensor.value());
      return inner.builder().status();
    };
    const std::vector<Value*> results = graph::BuildLoop(
        values.builder(), request,
        [&](graph::Region& region, const graph::LoopInputs& in) {
          Scope inner(values, region);
          graph::LoopOutputs out;
          const Status status = build_iteration(inner, in, out);
          if (!status.ok()) region.builder().Fail(status);
          return out;
        });
    EMBER_RETURN_IF_ERROR(values.builder().status());
    SetAll(outputs, results, before, values);
    return OkStatus();
  }

  // Sets named values to tensors. like: gives the other properties of each
  // value, such as its logical type.
  static void SetAll(const std::vector<std::string>& names,
                     const std::vector<Value*>& results,
                     const std::vector<MilValue>& like, Scope& values) {
    for (size_t i = 0; i < names.size() && i < results.size(); ++i) {
      MilValue value = like[i];
      value.tensor = Tensor(&values.builder(), results[i]);
      values.Set(names[i], std::move(value));
    }
  }

  ModelContext& context_;
  int64_t steps_ = 0;
};

void FindMissingIn(const ProtobufView& block, int depth,
                   frontends::UnsupportedParts& missing) {
  if (depth > kMaxNesting)
    return missing.Add("branches and loops", "", "they are too deep");
  for (const ProtobufView& operation : block.Messages(kBlockOperations)) {
    const std::string type = operation.Text(1);
    for (const ProtobufView& inner : operation.Messages(kOperationBlocks))
      FindMissingIn(inner, depth + 1, missing);
    if (type == kMilConst || IsControl(type) || IsOfState(type) ||
        FindMil(type) != nullptr)
      continue;
    const std::vector<ProtobufView> outputs = operation.Messages(3);
    missing.Add(type, outputs.empty() ? "" : outputs[0].Text(1), "");
  }
}

// Number of the field of ModelDescription that lists the states.
constexpr uint64_t kStates = 13;

Status AddState(ModelContext& context, const ProtobufView& description,
                const Feature& feature, Scope& values) {
  const auto fault = [&](const std::string& what) {
    return UnimplementedError("state '" + OnOneLine(feature.name) +
                              "': expected " + what);
  };
  if (feature.kind != Feature::kState)
    return fault("an array, found another type");
  const auto has_name = [&](const auto& other) {
    return other.name == feature.name;
  };
  const std::vector<Feature> outputs = FeaturesOf(description, 10);
  if (std::any_of(context.states.begin(), context.states.end(), has_name) ||
      std::any_of(outputs.begin(), outputs.end(), has_name) ||
      values.Find(feature.name) != nullptr)
    return fault("a name of its own, found one that is there twice");
  ops::Shape shape;
  for (size_t i = 0; i < feature.dims.size(); ++i) {
    if (feature.dims[i] < 0 || feature.varies[i])
      return fault("known dims, found some that vary");
    shape.push_back(ops::Dim(feature.dims[i]));
  }
  const Tensor value(&context.builder,
                     context.builder.Input(feature.name, {feature.dtype, shape},
                                           std::string(frontends::kStateType)));
  EMBER_RETURN_IF_ERROR(context.builder.status());
  context.states.push_back({feature.name, value});
  values.Set(feature.name, {.tensor = value, .is_state = true});
  return OkStatus();
}

}  // namespace

void FindMissingOperations(const ProtobufView& program,
                           frontends::UnsupportedParts& missing) {
  FindMissingIn(BlockOf(MainFunction(program)), 0, missing);
}

Status ImportProgram(ModelContext& context, const ProtobufView& model,
                     Features& features) {
  const ProtobufView function = MainFunction(model.Message(kProgram));
  const ProtobufView block = BlockOf(function);
  if (block.empty())
    return DataLossError(
        "expected a program with a function 'main', found none");
  Scope values(context.builder);
  const ProtobufView description = model.Message(kDescription);
  for (const Feature& feature : FeaturesOf(description, 1)) {
    EMBER_ASSIGN_OR_RETURN(Tensor value, FindFeature(features, feature.name));
    if (feature.kind == Feature::kImage)
      value = Transpose(Cast(value, DType::kF32), {0, 3, 1, 2});
    // A program may declare an input as f16 that the description declares as
    // f32. Such an input is converted.
    for (const ProtobufView& input : function.Messages(1)) {
      const ValueType type = ReadType(input.Message(2));
      if (input.Text(1) == feature.name && type.dtype)
        value = Cast(value, *type.dtype);
    }
    values.Set(feature.name, {.tensor = value});
  }
  EMBER_RETURN_IF_ERROR(context.builder.status());
  for (const Feature& state : FeaturesOf(description, kStates))
    EMBER_RETURN_IF_ERROR(AddState(context, description, state, values));
  EMBER_RETURN_IF_ERROR(ProgramImporter(context).ImportBlock(block, values));
  for (const Feature& feature : FeaturesOf(description, 10)) {
    const MilValue* found = values.Find(feature.name);
    if (found == nullptr || !found->tensor) {
      return DataLossError("output '" + OnOneLine(feature.name) +
                           "': expected a value of the program, found none");
    }
    Tensor value = found->tensor;
    if (feature.kind == Feature::kArray && value.is_float())
      value = Cast(value, feature.dtype);
    if (feature.kind == Feature::kDictionary && value.is_float())
      value = Cast(value, DType::kF32);
    if (feature.kind == Feature::kImage && value.rank() == 4) {
      value = Transpose(value, {0, 2, 3, 1});
      value = Cast(Round(Minimum(Maximum(Cast(value, DType::kF32), 0), 255)),
                   DType::kU8);
    }
    features[feature.name] = {value, found->logical_type};
    if (feature.kind == Feature::kDictionary)
      features[feature.name].keys = ClassLabelsOf(model.Message(kProgram));
  }
  return context.builder.status();
}

std::vector<std::string> ClassLabelsOf(const ProtobufView& program) {
  std::map<std::string, ProtobufView> constants;
  for (const ProtobufView& operation :
       BlockOf(MainFunction(program)).Messages(3)) {
    const std::string type = operation.Text(1);
    if (type == kMilConst) {
      constants[operation.Message(3).Text(1)] = Entry(operation, 5, "val");
    } else if (type == "classify") {
      const ProtobufView binding = Entry(operation, 2, "classes").Message(1);
      Items items = ItemsOf(binding.Has(2) ? binding.Message(2)
                                           : constants[binding.Text(1)]);
      for (const int64_t number : items.integers)
        items.texts.push_back(std::to_string(number));
      return std::move(items.texts);
    }
  }
  return {};
}

}  // namespace ember::coreml
