#include "frontends/torchscript/model_importer.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/one_line.h"
#include "compiler/graph/equal.h"
#include "frontends/inputs.h"
#include "frontends/torchscript/merging.h"
#include "frontends/torchscript/unsupported.h"

namespace ember::torchscript {
namespace {

using Kind = Value::Kind;

// True for names that an author chose ("out", "x2"), unlike "_3".
bool IsChosenName(const Expression* expression) {
  return expression != nullptr && expression->kind == Expression::Kind::kName &&
         !(expression->text.size() > 1 && expression->text[0] == '_' &&
           expression->text[1] >= '0' && expression->text[1] <= '9');
}

const Expression* ReturnedBy(const Function& method) {
  if (method.body.empty()) return nullptr;
  const Statement& last = method.body.back();
  return last.kind == Statement::Kind::kReturn ? &last.value : nullptr;
}

// Erases operations whose results are not used. It keeps checks, operations
// with regions, and operations that give a symbol its value, because these may
// have other effects.
void EraseUnused(graph::Graph& graph) {
  const std::vector<graph::Operation*> operations = graph.Operations();
  for (auto it = operations.rbegin(); it != operations.rend(); ++it) {
    graph::Operation& operation = **it;
    const bool has_effects =
        operation.attributes().Find("message") != nullptr ||
        !operation.regions().empty() ||
        !graph::DefinedSymbols(operation).empty();
    const bool is_used = std::ranges::any_of(
        operation.results(),
        [](const auto& result) { return !result->unused(); });
    if (!has_effects && !is_used) graph.Erase(&operation);
  }
}

bool HasFixedValue(const StateEntry& entry) { return entry.fixed.has_value(); }

std::string MethodNames(const Class& type) {
  std::string names;
  for (const auto& [name, method] : type.methods)
    names += (names.empty() ? "'" : ", '") + OnOneLine(name) + "'";
  return names.empty() ? "none" : names;
}

}  // namespace

StatusOr<const Function*> ModelImporter::FindMethod() {
  EMBER_ASSIGN_OR_RETURN(const Class* type, file_.ModuleClass());
  const std::string name = options_.entry.empty() ? "forward" : options_.entry;
  const auto found = type->methods.find(name);
  if (found != type->methods.end()) return &found->second;
  return InvalidArgumentError("expected a method '" + OnOneLine(name) +
                              "' of the module, found " + MethodNames(*type));
}

StatusOr<Arguments> ModelImporter::MethodArguments(Arguments::Scope scope) {
  EMBER_ASSIGN_OR_RETURN(method_, FindMethod());
  return Arguments::Of(file_, *method_, options_, dtypes_, scope);
}

StatusOr<ModelImporter::Instance> ModelImporter::Load(Machine& machine) {
  InterpreterOptions options;
  options.operators = {.version = file_.version(), .steps = &steps_};
  EMBER_ASSIGN_OR_RETURN(options.constants, file_.Constants(machine));
  Instance instance;
  instance.interpreter =
      std::make_unique<Interpreter>(machine, file_.code(), std::move(options));
  EMBER_ASSIGN_OR_RETURN(instance.module,
                         file_.Load(machine, *instance.interpreter));
  return instance;
}

// Returns the machine's error or, if an operator is missing, one error that
// lists all missing operators.
Status ModelImporter::Failure(Machine& machine, const Instance& instance) {
  wanted_.insert(machine.wanted().begin(), machine.wanted().end());
  const std::string& first = instance.interpreter->unknown();
  if (first.empty()) return machine.status();
  std::set<std::string> all =
      UnsupportedOperators(machine.heap(), file_.code(), *method_);
  all.erase(first);
  std::string text(machine.status().message());
  for (const std::string& name : all) text += ", " + OnOneLine(name);
  return UnimplementedError(text);
}

Status ModelImporter::Flatten(const Value& value, const Expression* expression,
                              const std::string& name, bool is_whole, int depth,
                              std::vector<NamedTensor>& results) {
  std::string own = name;
  if (IsChosenName(expression)) own = expression->text;
  constexpr int kMaxItems = 1'000'000;
  if (depth > 8)
    return UnimplementedError("results: expected at most 8 levels of tuples");
  // A list may contain itself, or one list many times, so the depth alone does
  // not bound the number of items.
  if (++flattened_ > kMaxItems) {
    return UnimplementedError("results: expected at most " +
                              std::to_string(kMaxItems) + " items");
  }
  if (value.is_none() || value.is(Kind::kString) || value.is(Kind::kDevice))
    return OkStatus();
  if (value.is_complex()) {
    return UnimplementedError(
        "result '" + OnOneLine(own) +
        "': expected a tensor of real numbers, found one of complex numbers "
        "(torch.view_as_real gives both of their parts)");
  }
  if (value.is_quantized()) {
    return UnimplementedError(
        "result '" + OnOneLine(own) +
        "': expected a tensor of real numbers, found a quantized one "
        "(dequantize() gives its real numbers, int_repr() its integers)");
  }
  if (value.is_tensor() || value.is_number()) {
    results.push_back({own, value});
    return OkStatus();
  }
  if (value.is_sequence()) {
    const bool has_parts = expression != nullptr &&
                           expression->kind == Expression::Kind::kTuple &&
                           expression->parts.size() == value.list->items.size();
    const auto& items = value.list->items;
    for (size_t i = 0; i < items.size(); ++i) {
      std::string part = own + "_" + std::to_string(i);
      if (value.list->fields != nullptr &&
          i < value.list->fields->attributes.size())
        part = value.list->fields->attributes[i].name;
      EMBER_RETURN_IF_ERROR(Flatten(items[i],
                                    has_parts ? &expression->parts[i] : nullptr,
                                    part, false, depth + 1, results));
    }
    return OkStatus();
  }
  if (value.is(Kind::kDict)) {
    for (const auto& [key, item] : value.dict->items) {
      const std::string part =
          key.is(Kind::kString) ? (is_whole ? key.text : own + "_" + key.text)
                                : own + "_" + key.dim.ToString();
      EMBER_RETURN_IF_ERROR(
          Flatten(item, nullptr, part, false, depth + 1, results));
    }
    return OkStatus();
  }
  return UnimplementedError("result '" + OnOneLine(own) +
                            "': expected tensors, numbers, and tuples, lists "
                            "and dicts of them, found " +
                            OnOneLine(Describe(value)));
}

StatusOr<std::vector<ModelImporter::NamedTensor>> ModelImporter::RunMethod(
    Machine& machine, Instance& instance, const std::vector<Tensor>& inputs) {
  EMBER_ASSIGN_OR_RETURN(const Arguments arguments, MethodArguments());
  const Value result = instance.interpreter->CallMethod(
      *instance.module, method_->name,
      arguments.Values(inputs, machine, *instance.interpreter));
  if (!machine.ok()) return Failure(machine, instance);
  if (instance.interpreter->raised()) {
    return InvalidArgumentError("the model raises an exception: " +
                                OnOneLine(*instance.interpreter->raised()));
  }
  std::vector<NamedTensor> results;
  EMBER_RETURN_IF_ERROR(
      Flatten(result, ReturnedBy(*method_), "output", true, 0, results));
  if (results.empty()) {
    return InvalidArgumentError(
        "expected a method that returns tensors, found "
        "one that returns " +
        OnOneLine(Describe(result)));
  }
  return results;
}

StatusOr<std::vector<Tensor>> ModelImporter::AddInputs(
    graph::GraphBuilder& builder) {
  EMBER_ASSIGN_OR_RETURN(const Arguments arguments, MethodArguments());
  EMBER_ASSIGN_OR_RETURN(
      const std::vector<graph::Value*> values,
      frontends::AddInputs(arguments.inputs(), options_, builder));
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < values.size(); ++i) {
    inputs.emplace_back(&builder, values[i]);
    if (values[i]->name().empty())
      values[i]->set_name(arguments.inputs()[i].name);
  }
  return inputs;
}

Status ModelImporter::AddOutputs(graph::GraphBuilder& builder,
                                 const std::vector<std::string>& names,
                                 const std::vector<graph::Value*>& values) {
  std::set<std::string> used;
  // For each name that occurred more than once: the last number that was
  // appended to make it unique.
  std::map<std::string, int> last;
  for (size_t i = 0; i < values.size(); ++i) {
    std::string name = names[i];
    for (int& k = last.try_emplace(name, 1).first->second;
         !used.insert(name).second;)
      name = names[i] + "_" + std::to_string(++k);
    builder.Output(name, values[i]);
  }
  return builder.status();
}

StatusOr<graph::Graph> ModelImporter::Import() {
  StatusOr<graph::Graph> graph = ImportOnce({}, entries_);
  if (!graph.ok() || entries_.empty()) return graph;
  if (std::ranges::all_of(entries_, &HasFixedValue) && IsSettled(*graph))
    return graph;
  std::erase_if(entries_, [](const StateEntry& entry) {
    return entry.is_replaced && entry.kind != Kind::kTensor &&
           !entry.is_number();
  });
  for (const StateEntry& entry : entries_) {
    if (entry.kind == Kind::kTensor || entry.is_number()) continue;
    return UnimplementedError(
        "attribute '" + OnOneLine(entry.name()) +
        "', which the model changes: expected a tensor or number, or a value "
        "that later calls keep, found " +
        OnOneLine(entry.text));
  }
  // True if some attribute needs a branch for the first call: its type before
  // that call differs from its type after it, or it is a number with one known
  // value after every call.
  const auto first_differs = [&] {
    return std::any_of(entries_.begin(), entries_.end(),
                       [](const StateEntry& entry) {
                         return entry.is_known || !entry.starts_alike;
                       });
  };
  // An import may find that a number that was assumed to be known does change.
  // It is repeated with that number as part of the state.
  for (size_t round = 0; round <= entries_.size(); ++round) {
    must_retry_ = false;
    graph = first_differs() ? ImportWithFirstCall() : ImportWithState();
    if (!must_retry_) return graph;
  }
  return graph;
}

bool ModelImporter::IsSettled(graph::Graph& first) {
  std::vector<StateEntry> changed;
  StatusOr<graph::Graph> later = ImportOnce(entries_, changed);
  if (!later.ok()) return false;
  for (const StateEntry& entry : changed) {
    const auto found =
        std::ranges::find(entries_, entry.name(), &StateEntry::name);
    if (found == entries_.end() || found->fixed != entry.fixed) return false;
  }
  // The graphs can only be equal without unused operations: the first call also
  // computes values that later calls merely keep.
  EraseUnused(first);
  EraseUnused(*later);
  return graph::Equal(first, *later);
}

Status ModelImporter::CheckDropped(Instance& instance) const {
  for (const auto& [path, object] : ObjectsOf(*instance.module)) {
    for (const std::string& name : object->read) {
      if (!dropped_.contains({path, name})) continue;
      return UnimplementedError(
          "attribute '" + OnOneLine(path.empty() ? name : path + "." + name) +
          "', which the first call changes: expected a tensor, a number or a "
          "value that later calls assign before they read it");
    }
  }
  return OkStatus();
}

StatusOr<graph::Graph> ModelImporter::ImportOnce(
    const std::vector<StateEntry>& given, std::vector<StateEntry>& changed) {
  graph::GraphBuilder builder("main", options_.operation_limit);
  EMBER_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, AddInputs(builder));
  Machine machine(builder);
  EMBER_ASSIGN_OR_RETURN(Instance instance, Load(machine));
  if (!given.empty()) {
    std::map<std::string, Object*> objects = ObjectsOf(*instance.module);
    for (const StateEntry& entry : given) {
      const auto object = objects.find(entry.object);
      if (object == objects.end()) continue;
      entry.Make(object->second->attributes[entry.attribute], machine) =
          entry.fixed->Make(machine);
    }
  }
  const ModuleState before = ModuleState::Of(*instance.module);
  EMBER_ASSIGN_OR_RETURN(const std::vector<NamedTensor> results,
                         RunMethod(machine, instance, inputs));
  ModuleState::Names dropped;
  changed = before.Changed(*instance.module, machine, dropped);
  if (!machine.ok()) return machine.status();
  if (given.empty()) dropped_ = std::move(dropped);
  EMBER_RETURN_IF_ERROR(CheckDropped(instance));
  if (!std::ranges::all_of(changed, &HasFixedValue)) {
    // The call has overwritten the attributes. The values from before it are
    // read from a second copy of the module.
    EMBER_ASSIGN_OR_RETURN(Instance fresh, Load(machine));
    std::map<std::string, Object*> objects = ObjectsOf(*fresh.module);
    for (StateEntry& entry : changed) {
      if (entry.kind != Kind::kTensor) continue;
      const auto object = objects.find(entry.object);
      if (object == objects.end()) continue;
      const auto old = object->second->attributes.find(entry.attribute);
      if (old == object->second->attributes.end()) continue;
      const Value* item = entry.Find(old->second);
      if (item == nullptr || !item->is_tensor()) continue;
      const Tensor tensor = machine.Read(*item->cell);
      if (!machine.ok()) return machine.status();
      entry.starts_alike = tensor.value()->type() == entry.type;
      const auto contents = builder.ConstantContents(tensor.value());
      entry.starts_with_zeros =
          entry.starts_alike && contents &&
          std::all_of(contents->begin(), contents->end(),
                      [](double number) { return number == 0; });
    }
    return graph::Graph("main");
  }
  std::vector<std::string> names;
  std::vector<graph::Value*> values;
  for (const NamedTensor& result : results) {
    names.push_back(result.name);
    values.push_back(machine.ToTensor(result.value).value());
  }
  if (!machine.ok()) return machine.status();
  EMBER_RETURN_IF_ERROR(AddOutputs(builder, names, values));
  return builder.Finish();
}

std::string ModelImporter::FlagName() const {
  std::string name = "started";
  for (bool is_taken = true; is_taken;) {
    is_taken = false;
    for (const StateEntry& entry : entries_) is_taken |= entry.name() == name;
    if (is_taken) name += "_";
  }
  return name;
}

ModelImporter::StateInputs ModelImporter::AddStateInputs(
    graph::GraphBuilder& builder, bool has_flag) {
  const std::string state(frontends::kStateType);
  StateInputs inputs;
  for (const StateEntry& entry : entries_) {
    inputs.entries.emplace_back();
    if (entry.is_known) continue;
    inputs.entries.back() =
        Tensor(&builder, builder.Input(entry.name(), entry.type, state));
  }
  if (has_flag) {
    inputs.started =
        Tensor(&builder, builder.Input(FlagName(), {DType::kBool, {}}, state));
  }
  return inputs;
}

void ModelImporter::SetState(Machine& machine, Instance& instance,
                             const StateInputs& inputs, bool selects_initial) {
  std::map<std::string, Object*> objects = ObjectsOf(*instance.module);
  for (size_t i = 0; i < entries_.size() && machine.ok(); ++i) {
    const StateEntry& entry = entries_[i];
    const auto object = objects.find(entry.object);
    if (object == objects.end()) continue;
    Value& attribute =
        entry.Make(object->second->attributes[entry.attribute], machine);
    if (entry.is_known) {
      attribute = entry.known;
      continue;
    }
    Tensor value = machine.Inside(inputs.entries[i]);
    if (selects_initial && !entry.starts_with_zeros) {
      const Tensor initial = attribute.is_tensor()
                                 ? machine.Read(*attribute.cell)
                                 : machine.ToScalar(attribute);
      value = ops::Select(machine.Inside(inputs.started), value, initial);
    }
    if (entry.kind != Kind::kTensor)
      attribute = Value::Dynamic(entry.kind, value);
    else if (attribute.is_tensor() && entry.is_same_tensor)
      // The call writes to the tensor in place, so the state is written in
      // place, too: all values that refer to the tensor see it.
      machine.Write(*attribute.cell, value);
    else
      attribute = machine.NewTensor(value);
  }
}

StatusOr<std::vector<graph::Value*>> ModelImporter::StateAfter(
    Machine& machine, Instance& instance, bool checks_known) {
  std::map<std::string, Object*> objects = ObjectsOf(*instance.module);
  std::vector<graph::Value*> values;
  for (StateEntry& entry : entries_) {
    const std::string what = "attribute '" + OnOneLine(entry.name()) + "'";
    const auto object = objects.find(entry.object);
    const Value* item =
        object == objects.end()
            ? nullptr
            : entry.Find(object->second->attributes[entry.attribute]);
    const Value now = item == nullptr ? Value::None() : *item;
    if (entry.is_known) {
      if (checks_known && !IsSame(now, entry.known)) {
        entry.is_known = false;
        must_retry_ = true;
      }
      continue;
    }
    Tensor value;
    if (now.kind == entry.kind) {
      value = now.is_tensor()
                  ? machine.Read(*now.cell)
                  : ops::Cast(machine.ToScalar(now), entry.type.dtype);
    }
    if (!machine.ok()) return machine.status();
    if (!value || value.value()->type() != entry.type) {
      return UnimplementedError(
          what + ": expected " + graph::ToString(entry.type) +
          " after every call, as after the first, found " +
          (value ? graph::ToString(value.value()->type())
                 : OnOneLine(Describe(now))));
    }
    values.push_back(value.value());
  }
  return values;
}

void ModelImporter::AddStateOutputs(graph::GraphBuilder& builder,
                                    const std::vector<graph::Value*>& values,
                                    bool has_flag) {
  const std::string state(frontends::kStateType);
  size_t next = 0;
  for (const StateEntry& entry : entries_) {
    if (entry.is_known || next >= values.size()) continue;
    builder.Output(entry.name(), values[next++], state);
  }
  if (has_flag)
    builder.Output(FlagName(), builder.Scalar(1, DType::kBool), state);
}

StatusOr<graph::Graph> ModelImporter::ImportWithState() {
  const bool has_flag = std::any_of(
      entries_.begin(), entries_.end(),
      [](const StateEntry& entry) { return !entry.starts_with_zeros; });
  graph::GraphBuilder builder("main", options_.operation_limit);
  EMBER_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, AddInputs(builder));
  const StateInputs state = AddStateInputs(builder, has_flag);
  Machine machine(builder);
  EMBER_ASSIGN_OR_RETURN(Instance instance, Load(machine));
  SetState(machine, instance, state, true);
  EMBER_ASSIGN_OR_RETURN(const std::vector<NamedTensor> results,
                         RunMethod(machine, instance, inputs));
  EMBER_RETURN_IF_ERROR(CheckDropped(instance));
  std::vector<std::string> names;
  std::vector<graph::Value*> values;
  for (const NamedTensor& result : results) {
    names.push_back(result.name);
    values.push_back(machine.ToTensor(result.value).value());
  }
  EMBER_ASSIGN_OR_RETURN(const std::vector<graph::Value*> after,
                         StateAfter(machine, instance, true));
  if (!machine.ok()) return machine.status();
  EMBER_RETURN_IF_ERROR(AddOutputs(builder, names, values));
  AddStateOutputs(builder, after, has_flag);
  return builder.Finish();
}

StatusOr<graph::Graph> ModelImporter::ImportWithFirstCall() {
  graph::GraphBuilder builder("main", options_.operation_limit);
  EMBER_ASSIGN_OR_RETURN(const std::vector<Tensor> inputs, AddInputs(builder));
  const StateInputs state = AddStateInputs(builder, true);
  Machine machine(builder);
  EMBER_RETURN_IF_ERROR(builder.status());
  builder.SetOrigin("first call");
  graph::IfRegions regions(builder);
  std::vector<std::string> names;
  const auto call = [&](graph::Region& region,
                        bool is_first) -> StatusOr<std::vector<graph::Value*>> {
    machine.Enter(region);
    EMBER_ASSIGN_OR_RETURN(Instance instance, Load(machine));
    if (!is_first) SetState(machine, instance, state, false);
    std::vector<Tensor> inside;
    for (const Tensor& input : inputs) inside.push_back(machine.Inside(input));
    EMBER_ASSIGN_OR_RETURN(const std::vector<NamedTensor> results,
                           RunMethod(machine, instance, inside));
    if (!is_first) EMBER_RETURN_IF_ERROR(CheckDropped(instance));
    names.clear();
    std::vector<graph::Value*> values;
    for (const NamedTensor& result : results) {
      names.push_back(result.name);
      values.push_back(machine.ToTensor(result.value).value());
    }
    EMBER_ASSIGN_OR_RETURN(const std::vector<graph::Value*> after,
                           StateAfter(machine, instance, !is_first));
    if (!machine.ok()) return machine.status();
    values.insert(values.end(), after.begin(), after.end());
    machine.Leave();
    if (!machine.ok()) return machine.status();
    return values;
  };
  EMBER_ASSIGN_OR_RETURN(const std::vector<graph::Value*> later,
                         call(regions.then(), false));
  const size_t later_results = names.size();
  if (must_retry_) return graph::Graph("main");
  EMBER_ASSIGN_OR_RETURN(const std::vector<graph::Value*> first,
                         call(regions.otherwise(), true));
  if (names.size() != later_results || first.size() != later.size()) {
    return UnimplementedError("expected as many results of the first call (" +
                              std::to_string(names.size()) +
                              ") as of later ones (" +
                              std::to_string(later_results) + ")");
  }
  builder.SetOrigin("first call");
  const std::vector<graph::Value*> values =
      regions.Build(state.started.value(), later, first);
  EMBER_RETURN_IF_ERROR(builder.status());
  const auto split = static_cast<std::ptrdiff_t>(later_results);
  EMBER_RETURN_IF_ERROR(
      AddOutputs(builder, names, {values.begin(), values.begin() + split}));
  AddStateOutputs(builder, {values.begin() + split, values.end()}, true);
  return builder.Finish();
}

}  // namespace ember::torchscript
