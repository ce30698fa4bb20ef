#include "frontends/torchscript/state.h"

#include <algorithm>
#include <set>

#include "base/one_line.h"
#include "frontends/torchscript/interpreter.h"
#include "frontends/torchscript/merging.h"

namespace ember::torchscript {
namespace {

using Kind = Value::Kind;

uint64_t StampOf(const Value& value) {
  if (!value.is_tensor()) return 0;
  return std::max(value.cell->root->stamp, value.cell->made);
}

// Returns the address of the list, tuple or dict to which a value refers, as
// its identity; null for other values.
const void* ContainerOf(const Value& value) {
  if (value.is_sequence()) return value.list;
  return value.is(Kind::kDict) ? value.dict : nullptr;
}

// Returns the items of a list, or the keys and items of a dict.
std::vector<const Value*> ItemsOf(const Value& container) {
  std::vector<const Value*> items;
  if (container.is_sequence())
    for (const Value& item : container.list->items) items.push_back(&item);
  if (container.is(Kind::kDict)) {
    for (const auto& [key, item] : container.dict->items) {
      items.push_back(&key);
      items.push_back(&item);
    }
  }
  return items;
}

// Sets the fields of an entry that describe the tensor or number `now`, the
// value after the call. Returns false after an error.
bool Describe(StateEntry& entry, const Value& now, const Value& old,
              Machine& machine) {
  if (now.is_tensor()) {
    const Tensor tensor = machine.Read(*now.cell);
    entry.is_same_tensor = IsSame(now, old);
    if (machine.ok()) entry.type = tensor.value()->type();
    return machine.ok();
  }
  entry.type = {ScalarDType(now.kind), {}};
  entry.is_known = now.is_known_number();
  entry.known = now;
  entry.starts_alike = old.kind == now.kind;
  entry.starts_with_zeros =
      entry.starts_alike && old.is_known_number() && old.known_number() == 0;
  return true;
}

}  // namespace

const Value* StateEntry::Find(const Value& attribute) const {
  const Value* at = &attribute;
  for (const Step& step : steps) {
    if (!at->is(step.kind) || at->list->items.size() != step.size)
      return nullptr;
    at = &at->list->items[step.index];
  }
  return at;
}

Value& StateEntry::Make(Value& attribute, Machine& machine) const {
  Value* at = &attribute;
  for (const Step& step : steps) {
    if (!at->is(step.kind) || at->list->items.size() != step.size) {
      *at = machine.NewList(std::vector<Value>(step.size));
      at->kind = step.kind;
      at->list->fields = step.fields;
      // NewList returns an empty list after an error, but items[step.index] is
      // accessed below.
      at->list->items.resize(step.size);
    }
    at = &at->list->items[step.index];
  }
  return *at;
}

bool ModuleState::AddItems(const StateEntry& entry, const Value& now,
                           const Value* old, Machine& machine,
                           std::vector<StateEntry>& entries) const {
  constexpr size_t kMaxDepth = 8;
  constexpr size_t kMaxEntries = 10000;
  if (!now.is_sequence() || entry.steps.size() >= kMaxDepth) return false;
  // The model may have changed a list in place. So its items are compared with
  // the recorded ones even if `now` is the same list as `old`.
  const auto before = old == nullptr || old->kind != now.kind
                          ? items_.end()
                          : items_.find(ContainerOf(*old));
  const std::vector<Value>& items = now.list->items;
  for (size_t i = 0; i < items.size(); ++i) {
    if (entries.size() >= kMaxEntries || !machine.Charge(1)) return false;
    StateEntry item = entry;
    item.steps.push_back({i, now.kind, items.size(), now.list->fields});
    item.kind = items[i].kind;
    item.text = ember::torchscript::Describe(items[i]);
    item.fixed = FixedValue::Of(items[i]);
    const bool is_old =
        before != items_.end() && before->second.size() == items.size();
    const Value none;
    const Value& was = is_old ? before->second[i].value : none;
    if (items[i].is_sequence()) {
      if (!AddItems(item, items[i], is_old ? &was : nullptr, machine, entries))
        return false;
      continue;
    }
    if (!items[i].is_tensor() && !items[i].is_number()) return false;
    if (!Describe(item, items[i], was, machine)) return false;
    entries.push_back(std::move(item));
  }
  return true;
}

std::map<std::string, Object*> ObjectsOf(Object& module) {
  std::map<std::string, Object*> objects;
  std::set<Object*> seen = {&module};
  std::vector<Object*> open = {&module};
  while (!open.empty()) {
    Object* object = open.back();
    open.pop_back();
    objects.emplace(object->path, object);
    for (const auto& [name, value] : object->attributes)
      if (value.is(Kind::kObject) && seen.insert(value.object).second)
        open.push_back(value.object);
  }
  return objects;
}

bool ModuleState::IsChanged(const Before& before, const Value& now,
                            Compared& compared) const {
  // No real module has this many values. Comparing them takes about a second.
  constexpr size_t kMaxVisited = 10'000'000;
  std::vector<std::pair<const Before*, const Value*>> open = {{&before, &now}};
  const auto is_same = [&](const Before& old, const Value& value) {
    const void* container = ContainerOf(value);
    if (container == nullptr || old.value.kind != value.kind)
      return IsSame(old.value, value) && old.stamp == StampOf(value);
    const void* old_container = ContainerOf(old.value);
    if (!compared.pairs.emplace(old_container, container).second) return true;
    const auto found = items_.find(old_container);
    const std::vector<const Value*> items = ItemsOf(value);
    if (found == items_.end() || found->second.size() != items.size())
      return false;
    for (size_t i = 0; i < items.size(); ++i)
      open.emplace_back(&found->second[i], items[i]);
    return true;
  };
  while (!open.empty()) {
    const auto [old, value] = open.back();
    open.pop_back();
    if (++compared.visited <= kMaxVisited && is_same(*old, *value)) continue;
    // A pair of containers is recorded as equal before all of its items are
    // compared, so these pairs may contain the change. Another attribute may
    // hold them too, so they must be compared again.
    compared.pairs.clear();
    return true;
  }
  return false;
}

ModuleState ModuleState::Of(Object& module) {
  ModuleState state;
  std::vector<Value> open;
  const auto noted = [&](const Value& value) {
    if (ContainerOf(value) != nullptr) open.push_back(value);
    return Before{value, StampOf(value)};
  };
  for (const auto& [path, object] : ObjectsOf(module)) {
    state.objects_.insert(object);
    for (const auto& [name, value] : object->attributes)
      state.before_[{path, name}] = noted(value);
  }
  while (!open.empty()) {
    const Value container = open.back();
    open.pop_back();
    const auto [found, is_new] =
        state.items_.try_emplace(ContainerOf(container));
    if (!is_new) continue;
    for (const Value* item : ItemsOf(container))
      found->second.push_back(noted(*item));
  }
  return state;
}

std::vector<StateEntry> ModuleState::Changed(Object& module, Machine& machine,
                                             Names& dropped) const {
  std::vector<StateEntry> entries;
  // The containers that were found equal so far, for all attributes.
  Compared compared;
  for (const auto& [path, object] : ObjectsOf(module)) {
    for (const auto& [name, now] : object->attributes) {
      const auto found = before_.find({path, name});
      if (found != before_.end() && !IsChanged(found->second, now, compared))
        continue;
      StateEntry entry;
      entry.object = path;
      entry.attribute = name;
      entry.kind = now.kind;
      entry.text = Describe(now);
      entry.fixed = FixedValue::Of(now);
      entry.is_replaced = object->replaced.contains(name);
      const Value& old = found == before_.end() ? now : found->second.value;
      if (now.is_tensor() || now.is_number()) {
        if (!Describe(entry, now, old, machine)) return {};
      } else if (now.is(Kind::kFunction) ||
                 (now.is(Kind::kObject) && objects_.contains(now.object))) {
        // This object existed before the call. Its attributes are compared in
        // an iteration of their own.
        continue;
      } else if (!entry.fixed && object->replaced.contains(name)) {
        dropped.emplace(path, name);
        continue;
      } else if (!entry.fixed &&
                 AddItems(entry, now, found == before_.end() ? nullptr : &old,
                          machine, entries)) {
        continue;
      } else if (!entry.fixed) {
        if (!machine.ok()) return {};
        machine.FailUnsupported(
            "attribute '" + OnOneLine(entry.name()) +
            "', which the model changes: expected a tensor, a number, or a "
            "list or tuple of them, found " +
            OnOneLine(Describe(now)));
        return {};
      }
      entries.push_back(std::move(entry));
    }
  }
  return entries;
}

}  // namespace ember::torchscript
