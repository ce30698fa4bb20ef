#include "frontends/stablehlo/graph_importer.h"

#include <set>
#include <utility>

#include "base/one_line.h"
#include "base/unique_names.h"
#include "frontends/model_errors.h"
#include "frontends/ops/complex_edges.h"
#include "frontends/ops/compositions.h"

namespace ember::stablehlo {
namespace {

// Largest nesting depth of calls and regions.
constexpr int kMaxScopes = 200;
// Largest number of operations, each counted as often as it is inlined. Calls
// of calls could otherwise expand a small file without bound.
constexpr int64_t kMaxOperations = 2'000'000;
// Largest number of operands and attributes of all operations; one operation
// may have very many.
constexpr int64_t kMaxOperands = int64_t{1} << 24;

bool IsEnd(const Operation& operation) {
  return operation.name == "stablehlo.return" ||
         operation.name == "func.return";
}

std::string TypeText(const Type& type) {
  return OnOneLine(ToString(type).substr(0, 100));
}

std::string CalledFunction(const Operation& operation) {
  const bool call = operation.name == "func.call";
  if (!call && operation.name != "stablehlo.composite") return "";
  const Attribute* name =
      FindAttribute(operation.attributes, call ? "callee" : "decomposition");
  return name == nullptr ? "" : name->text;
}

// Collects the unsupported operators in a function and in those that it calls.
class OperatorCheck {
 public:
  explicit OperatorCheck(const Module& module) : module_(module) {}

  Status Check(const Function& entry) {
    std::vector<const Function*> left = {&entry};
    seen_.insert(entry.name);
    while (!left.empty()) {
      const Function* function = left.back();
      left.pop_back();
      called_.clear();
      Collect(function->body);
      for (const std::string& name : called_) {
        const Function* callee = module_.Find(name);
        if (callee != nullptr && seen_.insert(name).second)
          left.push_back(callee);
      }
    }
    if (missing_.empty()) return OkStatus();
    std::string text;
    for (const auto& [name, use] : missing_) {
      text +=
          (text.empty() ? "unsupported operators: " : ", ") + name + " (line " +
          std::to_string(use.line) +
          (use.count > 1 ? ", " + std::to_string(use.count) + " times" : "") +
          (use.reason.empty() ? "" : "; " + use.reason) + ")";
    }
    return UnimplementedError(text);
  }

 private:
  struct Use {
    int line = 0, count = 0;
    std::string reason;
  };

  // The recursion is bounded: the parser limits the depth of regions.
  void Collect(const Region& region) {
    for (const Operation& operation : region.operations) {
      for (const Region& inner : operation.regions) Collect(inner);
      if (IsEnd(operation)) continue;
      if (const std::string callee = CalledFunction(operation); !callee.empty())
        called_.insert(callee);
      std::string name = operation.name;
      const OperatorRow* row = FindRow(name);
      if (name == "stablehlo.custom_call") {
        const Attribute* target =
            FindAttribute(operation.attributes, "call_target_name");
        const std::string text = target == nullptr ? "" : target->text;
        if (IsKnownCustomCall(text)) continue;
        name += " @" + text;
      } else if (row != nullptr && row->import != nullptr) {
        continue;
      }
      Use& use = missing_[OnOneLine(name.substr(0, 100))];
      if (use.count++ == 0) use.line = operation.line;
      if (row != nullptr) use.reason = row->reason;
    }
  }

  const Module& module_;
  std::set<std::string> seen_, called_;
  std::map<std::string, Use> missing_;
};

// False if the two shapes certainly differ; true if they are equal or may be
// equal at run time.
bool MayBeEqual(const Shape& a, const Shape& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i].is_constant() && b[i].is_constant() && a[i] != b[i]) return false;
  return true;
}

// Returns the tensor with its unknown dims replaced by the extents that the
// type states. Fails if the tensor is not of the type.
StatusOr<Tensor> ConformTensor(Tensor x, std::string_view element,
                               const Type& type) {
  const auto dtype = DTypeOf(element);
  bool fits = dtype && x.dtype() == *dtype &&
              x.rank() == static_cast<int>(type.dims.size());
  for (int i = 0; fits && i < x.rank(); ++i) {
    const int64_t dim = type.dims[static_cast<size_t>(i)];
    if (dim < 0) continue;
    if (x.dim(i).is_constant()) {
      fits = x.dim(i) == Dim(dim);
    } else {
      x = ops::WithDim(x, i, Dim(dim));
      EMBER_RETURN_IF_ERROR(x.builder().status());
    }
  }
  EMBER_RETURN_IF_ERROR(x.builder().status());
  if (fits) return x;
  return InvalidArgumentError("expected " + TypeText(type) + ", found " +
                              graph::ToString(x.value()->type()));
}

bool IsComplex(std::string_view element) {
  return element.starts_with("complex<");
}

// Returns the type of a complex number's parts: "f32" for "complex<f32>".
std::string_view PartsOf(std::string_view element) {
  return element.substr(8, element.size() - 9);
}

StatusOr<Imported> Conform(Imported value, const Type& type) {
  if (type.kind == Type::Kind::kToken) return value;
  if (type.kind == Type::Kind::kTuple) {
    if (value.members.size() != type.results.size())
      return InvalidArgumentError("expected " + TypeText(type) +
                                  ", found another number of members");
    for (size_t i = 0; i < type.results.size(); ++i) {
      EMBER_ASSIGN_OR_RETURN(value.members[i],
                             Conform(value.members[i], type.results[i]));
    }
    return value;
  }
  if (!type.is_tensor() || !value.tensor.present())
    return UnimplementedError("unsupported type " + TypeText(type));
  std::string_view element = type.element;
  const bool complex = IsComplex(element);
  if (complex != value.is_complex())
    return InvalidArgumentError("expected " + TypeText(type) + ", found " +
                                (complex ? "real numbers" : "complex numbers"));
  if (complex) {
    element = PartsOf(element);
    EMBER_ASSIGN_OR_RETURN(value.imaginary,
                           ConformTensor(value.imaginary, element, type));
  }
  EMBER_ASSIGN_OR_RETURN(value.tensor,
                         ConformTensor(value.tensor, element, type));
  return value;
}

Imported Captured(const Imported& value, graph::Region& region) {
  const auto capture = [&](const Tensor& tensor) {
    return tensor.present()
               ? Tensor(&region.builder(), region.Capture(tensor.value()))
               : Tensor();
  };
  Imported inside{.tensor = capture(value.tensor),
                  .imaginary = capture(value.imaginary)};
  for (const Imported& member : value.members)
    inside.members.push_back(Captured(member, region));
  return inside;
}

// Counts a value with all members. The recursion is bounded: types limit the
// depth of tuples.
int64_t CountOf(const Imported& value) {
  int64_t count = 1;
  for (const Imported& member : value.members) count += CountOf(member);
  return count;
}

Imported Part(const Imported& value, bool imaginary) {
  return {.tensor =
              imaginary && value.is_complex() ? value.imaginary : value.tensor};
}

}  // namespace

class GraphImporter::ScopeImporter final : public RegionImporter {
 public:
  ScopeImporter(GraphImporter& importer, Scope& scope)
      : importer_(importer), scope_(scope) {}

  std::vector<Imported> Run(const Region& region,
                            std::vector<Imported> arguments,
                            graph::Region* inside, bool lifted) override {
    Scope inner = Inner(inside);
    inner.lifted = inner.lifted || lifted;
    const std::string origin = scope_.builder->origin();
    std::vector<Imported> results =
        importer_.RunRegion(region, std::move(arguments), inner);
    inner.builder->SetOrigin(origin);
    PassOn(inner);
    return results;
  }

  std::vector<Imported> Call(std::string_view function,
                             std::vector<Imported> arguments) override {
    const std::string origin = scope_.builder->origin();
    std::vector<Imported> results =
        importer_.Call(function, std::move(arguments), scope_);
    scope_.builder->SetOrigin(origin);
    return results;
  }

  void Enter(graph::Region& inside,
             const std::function<void(RegionImporter&)>& use) override {
    Scope inner = Inner(&inside);
    inner.builder->SetOrigin(scope_.builder->origin());
    ScopeImporter regions(importer_, inner);
    use(regions);
    PassOn(inner);
  }

 private:
  // If the import of a region failed, gives the error to the builder of the
  // operation that contains the region.
  void PassOn(const Scope& inner) {
    if (!inner.builder->status().ok())
      scope_.builder->Fail(inner.builder->status());
  }

  Scope Inner(graph::Region* inside) {
    Scope inner;
    inner.function = scope_.function;
    inner.builder = inside != nullptr ? &inside->builder() : scope_.builder;
    inner.region = inside != nullptr ? inside : scope_.region;
    inner.outer = &scope_;
    inner.depth = scope_.depth + 1;
    inner.lifted = scope_.lifted;
    return inner;
  }

  GraphImporter& importer_;
  Scope& scope_;
};

StatusOr<const Function*> GraphImporter::Entry() const {
  std::vector<std::string> names;
  const Function* only = nullptr;
  for (const Function& function : module_.functions) {
    if (function.is_private || !function.has_body) continue;
    names.push_back(function.name);
    only = &function;
    if (function.name == (options_.entry.empty() ? "main" : options_.entry))
      return &function;
  }
  if (options_.entry.empty() && names.size() == 1) return only;
  if (names.empty())
    return InvalidArgumentError("expected a public function, found none");
  return frontends::NoSuchEntry("functions", names, options_.entry);
}

StatusOr<std::vector<frontends::ModelInput>> GraphImporter::Inputs() const {
  EMBER_ASSIGN_OR_RETURN(const Function* entry, Entry());
  std::vector<frontends::ModelInput> inputs;
  UniqueNames names;
  for (size_t i = 0; i < entry->type.inputs.size(); ++i) {
    const Type& type = entry->type.inputs[i];
    frontends::ModelInput input;
    const Attribute* info =
        FindAttribute(entry->argument_attributes[i], "jax.arg_info");
    input.name =
        info != nullptr
            ? info->text
            : entry->values[static_cast<size_t>(entry->body.arguments[i])].name;
    if (input.name.empty()) input.name = "arg" + std::to_string(i);
    input.name = names.Take(input.name);
    const bool is_complex = type.is_tensor() && IsComplex(type.element);
    const auto dtype = DTypeOf(is_complex ? PartsOf(type.element)
                                          : std::string_view(type.element));
    if (!type.is_tensor() || !dtype ||
        type.dims.size() + (is_complex ? 1 : 0) > static_cast<size_t>(kMaxRank))
      return UnimplementedError("argument '" + OnOneLine(input.name) +
                                "': unsupported type " + TypeText(type));
    input.dtype = *dtype;
    auto& dims = input.dims.emplace();
    for (const int64_t dim : type.dims) {
      dims.push_back(dim >= 0
                         ? frontends::ModelDim{.extent = dim, .symbol = ""}
                         : frontends::ModelDim{
                               .extent = 0,
                               .symbol = frontends::ToIdentifier(input.name) +
                                         "_" + std::to_string(dims.size())});
    }
    if (is_complex)
      dims.push_back(frontends::ModelDim{.extent = 2, .symbol = ""});
    inputs.push_back(std::move(input));
  }
  return inputs;
}

StatusOr<graph::Graph> GraphImporter::Import() {
  EMBER_ASSIGN_OR_RETURN(const Function* entry, Entry());
  EMBER_RETURN_IF_ERROR(OperatorCheck(module_).Check(*entry));
  EMBER_ASSIGN_OR_RETURN(const std::vector<frontends::ModelInput> inputs,
                         Inputs());
  EMBER_ASSIGN_OR_RETURN(const std::vector<graph::Value*> values,
                         frontends::AddInputs(inputs, options_, builder_));
  Scope scope;
  scope.function = entry;
  scope.builder = &builder_;
  for (size_t i = 0; i < values.size(); ++i) {
    const Tensor value(&builder_, values[i]);
    Imported& argument = scope.values[entry->body.arguments[i]];
    if (IsComplex(entry->type.inputs[i].element)) {
      argument = {.tensor = ops::PartOf(value, 0),
                  .imaginary = ops::PartOf(value, 1)};
    } else {
      argument = {.tensor = value};
    }
  }
  EMBER_ASSIGN_OR_RETURN(const std::vector<Imported> results,
                         RunOperations(entry->body, scope));
  if (results.size() != entry->type.results.size())
    return InvalidArgumentError(
        "function '" + OnOneLine(entry->name) + "': expected " +
        std::to_string(entry->type.results.size()) + " results, found " +
        std::to_string(results.size()));
  for (size_t i = 0; i < results.size(); ++i) {
    const Attribute* info =
        FindAttribute(entry->result_attributes[i], "jax.result_info");
    std::string name = info == nullptr ? "" : info->text;
    if (name.empty()) name = "result" + std::to_string(i);
    EMBER_RETURN_IF_ERROR(AddOutput(results[i], entry->type.results[i], name));
  }
  return builder_.Finish();
}

// Adds a value as outputs of the graph; the members of a tuple become one
// output each.
Status GraphImporter::AddOutput(const Imported& value, const Type& type,
                                std::string name) {
  auto conformed = Conform(value, type);
  if (!conformed.ok())
    return conformed.status().WithContext("result '" + OnOneLine(name) + "'");
  if (type.kind == Type::Kind::kTuple) {
    for (size_t i = 0; i < type.results.size(); ++i)
      EMBER_RETURN_IF_ERROR(AddOutput(conformed->members[i], type.results[i],
                                      name + "_" + std::to_string(i)));
    return OkStatus();
  }
  if (conformed->is_complex())
    conformed->tensor =
        ops::JoinedParts(conformed->tensor, conformed->imaginary);
  else if (!conformed->is_tensor())
    return UnimplementedError("result '" + OnOneLine(name) +
                              "': unsupported type " + TypeText(type));
  const int seen = output_names_[name]++;
  if (seen > 0) name += "_" + std::to_string(seen + 1);
  builder_.Output(name, conformed->tensor.value());
  return builder_.status();
}

StatusOr<Imported> GraphImporter::Lookup(int value, Scope& scope) {
  const auto found = scope.values.find(value);
  if (found != scope.values.end()) return found->second;
  if (scope.outer == nullptr)
    return InternalError("a value that is not there yet");
  EMBER_ASSIGN_OR_RETURN(Imported outside, Lookup(value, *scope.outer));
  if (scope.region != scope.outer->region)
    outside = Captured(outside, *scope.region);
  scope.values[value] = outside;
  return outside;
}

StatusOr<Imported> GraphImporter::Operand(int value, Scope& scope) {
  StatusOr<Imported> operand = Lookup(value, scope);
  if (!operand.ok()) return operand;
  EMBER_RETURN_IF_ERROR(TakeOperands(CountOf(*operand)));
  return operand;
}

Status GraphImporter::TakeOperands(int64_t count) {
  imported_operands_ += count;
  if (imported_operands_ <= kMaxOperands) return OkStatus();
  return ResourceExhaustedError(
      "expected operations with at most " + std::to_string(kMaxOperands) +
      " operands, members of tuples and attributes, with all calls inlined, "
      "found more");
}

std::vector<Imported> GraphImporter::RunRegion(const Region& region,
                                               std::vector<Imported> arguments,
                                               Scope& scope) {
  graph::GraphBuilder& builder = *scope.builder;
  if (!builder.status().ok()) return {};
  const auto run = [&]() -> StatusOr<std::vector<Imported>> {
    if (scope.depth > kMaxScopes)
      return InvalidArgumentError("expected at most " +
                                  std::to_string(kMaxScopes) +
                                  " calls and regions in each other");
    if (arguments.size() != region.arguments.size())
      return InvalidArgumentError(
          "expected a region of " + std::to_string(arguments.size()) +
          " arguments, found " + std::to_string(region.arguments.size()));
    for (size_t i = 0; i < arguments.size(); ++i) {
      const int value = region.arguments[i];
      const Type& type =
          scope.function->values[static_cast<size_t>(value)].type;
      if (!scope.lifted) {
        auto conformed = Conform(std::move(arguments[i]), type);
        if (!conformed.ok())
          return conformed.status().WithContext(
              "argument " + std::to_string(i) + " of a region");
        arguments[i] = *std::move(conformed);
      } else if (arguments[i].is_tensor() &&
                 DTypeOf(type.element) != arguments[i].tensor.dtype()) {
        return InvalidArgumentError(
            "argument " + std::to_string(i) + " of a region: expected " +
            TypeText(type) + ", found " +
            std::string(DTypeName(arguments[i].tensor.dtype())));
      }
      scope.values[value] = std::move(arguments[i]);
    }
    return RunOperations(region, scope);
  };
  StatusOr<std::vector<Imported>> results = run();
  if (!results.ok()) {
    builder.Fail(results.status());
    return {};
  }
  return *std::move(results);
}

std::vector<Imported> GraphImporter::Call(std::string_view name,
                                          std::vector<Imported> arguments,
                                          Scope& scope) {
  const Function* function = module_.Find(name);
  if (function == nullptr || !function->has_body) {
    ops::FailInvalid(*scope.builder,
                     "expected a function of the module with a body, found '" +
                         OnOneLine(name) + "'");
    return {};
  }
  Scope inner;
  inner.function = function;
  inner.builder = scope.builder;
  inner.region = scope.region;
  inner.depth = scope.depth + 1;
  inner.lifted = scope.lifted;
  return RunRegion(function->body, std::move(arguments), inner);
}

StatusOr<std::vector<Imported>> GraphImporter::RunOperations(
    const Region& region, Scope& scope) {
  for (size_t i = 0; i < region.operations.size(); ++i) {
    const Operation& operation = region.operations[i];
    if (!IsEnd(operation)) {
      EMBER_RETURN_IF_ERROR(ImportOperation(operation, scope));
      continue;
    }
    if (i + 1 != region.operations.size())
      return InvalidArgumentError(
          "line " + std::to_string(operation.line) +
          ": expected nothing behind what a region returns");
    std::vector<Imported> results;
    for (const int value : operation.operands) {
      EMBER_ASSIGN_OR_RETURN(results.emplace_back(), Operand(value, scope));
    }
    return results;
  }
  return InvalidArgumentError("function '" + OnOneLine(scope.function->name) +
                              "': expected each region to end with a return");
}

Status GraphImporter::CheckLifted(const OperatorRow& row,
                                  const Operation& operation,
                                  const Scope& scope) const {
  if (!(row.traits & kElementwise))
    return UnimplementedError(
        "expected only operators on elements in a region that combines them");
  for (const auto* values : {&operation.operands, &operation.results}) {
    for (const int value : *values) {
      const Type& type =
          scope.function->values[static_cast<size_t>(value)].type;
      if (type.is_tensor() && type.dims.empty()) continue;
      return UnimplementedError(
          "expected only scalars in a region that combines elements, found " +
          TypeText(type));
    }
  }
  return OkStatus();
}

Status GraphImporter::ImportOperation(const Operation& operation,
                                      Scope& scope) {
  if (steps_.begun() == kMaxOperations)
    return ResourceExhaustedError(
        "expected at most " + std::to_string(kMaxOperations) +
        " operations with all calls inlined, found more");
  graph::GraphBuilder& builder = *scope.builder;
  builder.SetOrigin(operation.name + " (" + std::to_string(operation.line) +
                    ":" + std::to_string(operation.column) + ")");
  const auto in_context = [&](const Status& status) {
    return status.WithContext("node '" + builder.origin() + "'");
  };
  EMBER_RETURN_IF_ERROR(steps_.Begin(builder.origin()));
  const OperatorRow* row = FindRow(operation.name);
  EMBER_CHECK(row != nullptr && row->import != nullptr) << operation.name;
  // Looking an attribute up scans all of them, so their number is charged.
  EMBER_RETURN_IF_ERROR(
      TakeOperands(static_cast<int64_t>(operation.attributes.size())));
  const auto count = static_cast<int>(operation.operands.size());
  if (count < row->minimum_operands || count > row->maximum_operands)
    return in_context(InvalidArgumentError(
        "expected " + std::to_string(row->minimum_operands) +
        (row->maximum_operands == row->minimum_operands ? "" : " or more") +
        " operands, found " + std::to_string(count)));
  std::vector<Imported> operands;
  for (const int value : operation.operands) {
    EMBER_ASSIGN_OR_RETURN(operands.emplace_back(), Operand(value, scope));
  }
  std::vector<Type> types;
  for (const int value : operation.results)
    types.push_back(scope.function->values[static_cast<size_t>(value)].type);
  if (types.empty() && operation.name != "stablehlo.custom_call" &&
      operation.name != "func.call")
    return in_context(InvalidArgumentError("expected a result, found none"));
  if (scope.lifted) {
    // A lifted region runs once for many elements: a scalar of the region is a
    // tensor of them. A reshape of a scalar to a scalar therefore returns this
    // tensor unchanged.
    const bool keeps = operation.name == "stablehlo.broadcast_in_dim" ||
                       operation.name == "stablehlo.reshape";
    if (keeps && operands.size() == 1 && types.size() == 1 &&
        types[0].is_tensor() && types[0].dims.empty()) {
      scope.values[operation.results[0]] = operands[0];
      return OkStatus();
    }
    if (const Status status = CheckLifted(*row, operation, scope); !status.ok())
      return in_context(status);
  } else if ((row->traits & kElementwise) && !(row->traits & kScalars)) {
    for (size_t i = 1; i < operands.size(); ++i) {
      if (operands[0].tensor.present() && operands[i].tensor.present() &&
          !MayBeEqual(operands[0].tensor.shape(), operands[i].tensor.shape()))
        return in_context(InvalidArgumentError(
            "operand " + std::to_string(i) + ": expected shape " +
            graph::ShapeToString(operands[0].tensor.shape()) + ", found " +
            graph::ShapeToString(operands[i].tensor.shape())));
    }
  }
  bool complex = false;
  for (const Imported& operand : operands)
    complex = complex || operand.is_complex();
  ScopeImporter regions(*this, scope);
  std::vector<Imported> results;
  if (complex && (row->traits & kPartwise)) {
    for (const bool imaginary : {false, true}) {
      std::vector<Imported> parts;
      for (const Imported& operand : operands)
        parts.push_back(Part(operand, imaginary));
      OperationContext context(builder, operation, std::move(parts), types,
                               regions, scope.lifted);
      row->import(context);
      EMBER_RETURN_IF_ERROR(builder.status());
      if (!imaginary) {
        results = std::move(context.results());
      } else {
        for (size_t i = 0; i < results.size(); ++i)
          results[i].imaginary = context.results()[i].tensor;
      }
    }
  } else {
    OperationContext context(builder, operation, std::move(operands), types,
                             regions, scope.lifted);
    row->import(context);
    results = std::move(context.results());
  }
  EMBER_RETURN_IF_ERROR(builder.status());
  for (size_t i = 0; i < results.size(); ++i) {
    if (!scope.lifted) {
      StatusOr<Imported> conformed = Conform(std::move(results[i]), types[i]);
      if (!conformed.ok())
        return in_context(
            conformed.status().WithContext("result " + std::to_string(i)));
      results[i] = *std::move(conformed);
    } else if (!results[i].is_tensor() ||
               DTypeOf(types[i].element) != results[i].tensor.dtype()) {
      return in_context(InvalidArgumentError(
          "result " + std::to_string(i) + ": expected " + TypeText(types[i])));
    }
    scope.values[operation.results[i]] = std::move(results[i]);
  }
  return OkStatus();
}

}  // namespace ember::stablehlo
