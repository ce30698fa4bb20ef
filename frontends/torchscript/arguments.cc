#include "frontends/torchscript/arguments.h"

#include <utility>

#include "base/one_line.h"

namespace ember::torchscript {
namespace {

using Kind = Value::Kind;

// Returns X of a type outer[X], for example Optional[X]; null for other types.
const Expression* InnerOf(const Expression* type, std::string_view outer) {
  const bool is_it = type != nullptr &&
                     type->kind == Expression::Kind::kSubscript &&
                     type->parts[0].is_name(outer);
  return is_it ? &type->parts[1] : nullptr;
}

bool IsGiven(const std::string& name, const frontends::ImportOptions& options) {
  return options.input_shapes.contains(name) ||
         options.input_values.contains(name);
}

}  // namespace

Status Arguments::AddPart(const Expression* type, const std::string& name,
                          int depth, const frontends::ImportOptions& options,
                          Part& part) {
  if (depth > 8) {
    return UnimplementedError("argument '" + OnOneLine(name) +
                              "': expected at most 8 levels of tuples");
  }
  while (const Expression* inner = InnerOf(type, "Optional")) type = inner;
  if (const Expression* items = InnerOf(type, "Tuple")) {
    part.kind = Kind::kTuple;
    const bool is_one = items->kind != Expression::Kind::kTuple;
    const size_t count = is_one ? 1 : items->parts.size();
    for (size_t i = 0; i < count; ++i) {
      EMBER_RETURN_IF_ERROR(AddPart(is_one ? items : &items->parts[i],
                                    name + "_" + std::to_string(i), depth + 1,
                                    options, part.parts.emplace_back()));
    }
    return OkStatus();
  }
  if (const Expression* item = InnerOf(type, "List")) {
    part.kind = Kind::kList;
    // The list has as many items as shapes or values are given for.
    for (size_t i = 0; IsGiven(name + "_" + std::to_string(i), options); ++i) {
      EMBER_RETURN_IF_ERROR(AddPart(item, name + "_" + std::to_string(i),
                                    depth + 1, options,
                                    part.parts.emplace_back()));
    }
    if (!part.parts.empty()) return OkStatus();
    return InvalidArgumentError(
        "argument '" + OnOneLine(name) + "': expected shapes of its items ('" +
        OnOneLine(name) + "_0' and so on), as it is a list, found none");
  }
  frontends::ModelInput input;
  input.name = name;
  const std::string text = type == nullptr ? "Tensor" : TypeText(*type);
  if (text == "Tensor") {
    part.kind = Kind::kTensor;
    const auto known = dtypes_.find(name);
    if (known != dtypes_.end()) input.dtype = known->second;
  } else if (text == "int" || text == "float" || text == "bool" ||
             text == "number") {
    part.kind = text == "int"    ? Kind::kInt
                : text == "bool" ? Kind::kBool
                                 : Kind::kFloat;
    input.dtype = text == "int"    ? DType::kI64
                  : text == "bool" ? DType::kBool
                                   : DType::kF64;
    input.dims.emplace();
  } else {
    return UnimplementedError(
        "argument '" + OnOneLine(name) +
        "': expected a type of tensors, numbers, and tuples and lists of them, "
        "found " +
        OnOneLine(text));
  }
  part.input = inputs_.size();
  inputs_.push_back(std::move(input));
  return OkStatus();
}

StatusOr<Arguments> Arguments::Of(const ModuleFile& file,
                                  const Function& method,
                                  const frontends::ImportOptions& options,
                                  const std::map<std::string, DType>& dtypes) {
  Arguments arguments;
  arguments.dtypes_ = dtypes;
  const std::vector<std::optional<StoredTensor>> traced =
      file.TracedInputs(method.name);
  for (size_t i = 1; i < method.parameters.size(); ++i) {
    const Parameter& parameter = method.parameters[i];
    Part& part = arguments.parts_.emplace_back();
    const bool is_given = IsGiven(parameter.name, options) ||
                          IsGiven(parameter.name + "_0", options);
    if (parameter.standard && !is_given) {
      part.standard = &*parameter.standard;
      continue;
    }
    const size_t first = arguments.inputs_.size();
    EMBER_RETURN_IF_ERROR(
        arguments.AddPart(parameter.type ? &*parameter.type : nullptr,
                          parameter.name, 0, options, part));
    if (part.kind != Kind::kTensor || i - 1 >= traced.size() || !traced[i - 1])
      continue;
    frontends::ModelInput& input = arguments.inputs_[first];
    if (!dtypes.contains(input.name)) input.dtype = traced[i - 1]->dtype;
    auto& dims = input.dims.emplace();
    for (const int64_t extent : traced[i - 1]->dims)
      dims.push_back({.extent = extent, .may_differ = true});
  }
  return arguments;
}

Value Arguments::ValueOf(const Part& part, const std::vector<Tensor>& inputs,
                         Machine& machine, Interpreter& interpreter) const {
  if (part.standard != nullptr) return interpreter.Standard(*part.standard);
  if (part.kind == Kind::kTuple || part.kind == Kind::kList) {
    std::vector<Value> items;
    for (const Part& item : part.parts)
      items.push_back(ValueOf(item, inputs, machine, interpreter));
    return part.kind == Kind::kTuple ? machine.NewTuple(std::move(items))
                                     : machine.NewList(std::move(items));
  }
  const Tensor input = inputs[part.input];
  if (part.kind == Kind::kTensor) return machine.NewTensor(input);
  return machine.ToNumber(part.kind, input);
}

std::vector<Value> Arguments::Values(const std::vector<Tensor>& inputs,
                                     Machine& machine,
                                     Interpreter& interpreter) const {
  std::vector<Value> values;
  for (const Part& part : parts_)
    values.push_back(ValueOf(part, inputs, machine, interpreter));
  return values;
}

}  // namespace ember::torchscript
