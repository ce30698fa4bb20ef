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
  return value.is_tensor() ? value.cell->root->stamp : 0;
}

// Returns the identity of a list or dict; null for other values.
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

}  // namespace

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
  // More values than modules have. They are compared in about a second.
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
    // Another attribute may have containers that were entered here.
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
  // Containers that have been compared already; changes in them are errors.
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
      if (now.is_tensor()) {
        const Tensor tensor = machine.Read(*now.cell);
        if (!machine.ok()) return {};
        entry.type = tensor.value()->type();
      } else if (now.is_number()) {
        entry.type = {ScalarDType(now.kind), {}};
        entry.is_known = now.is_known_number();
        entry.known = now;
        entry.starts_alike = old.kind == now.kind;
        entry.starts_with_zeros = entry.starts_alike && old.is_known_number() &&
                                  old.known_number() == 0;
      } else if (now.is(Kind::kFunction) ||
                 (now.is(Kind::kObject) && objects_.contains(now.object))) {
        // The attributes of an object that was there before are compared
        // separately.
        continue;
      } else if (!entry.fixed && object->replaced.contains(name)) {
        dropped.emplace(path, name);
        continue;
      } else if (!entry.fixed) {
        machine.FailUnsupported(
            "attribute '" + OnOneLine(entry.name()) +
            "', which the model changes: expected a tensor or number, found " +
            OnOneLine(Describe(now)));
        return {};
      }
      entries.push_back(std::move(entry));
    }
  }
  return entries;
}

}  // namespace ember::torchscript
