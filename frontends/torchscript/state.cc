#include "frontends/torchscript/state.h"

#include <algorithm>
#include <set>

#include "base/one_line.h"
#include "frontends/torchscript/interpreter.h"
#include "frontends/torchscript/merging.h"

namespace ember::torchscript {
namespace {

using Kind = Value::Kind;

constexpr int kMostDepth = 16;  // of lists in lists

uint64_t StampOf(const Value& value) {
  return value.is_tensor() ? value.cell->root->stamp : 0;
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

ModuleState::Before ModuleState::Snapshot(const Value& value, int depth,
                                          size_t& left) {
  Before before;
  before.value = value;
  before.stamp = StampOf(value);
  const auto add = [&](const Value& item) {
    if (left == 0) return;
    --left;
    before.items.push_back(Snapshot(item, depth + 1, left));
  };
  if (value.is_sequence() && depth < kMostDepth)
    for (const Value& item : value.list->items) add(item);
  if (value.is(Kind::kDict) && depth < kMostDepth)
    for (const auto& [key, item] : value.dict->items) add(item);
  return before;
}

bool ModuleState::IsChanged(const Before& before, const Value& now, int depth) {
  if (!IsSame(before.value, now) || before.stamp != StampOf(now)) return true;
  if (depth >= kMostDepth) return false;
  std::vector<Value> items;
  if (now.is_sequence()) items = now.list->items;
  if (now.is(Kind::kDict))
    for (const auto& [key, item] : now.dict->items) items.push_back(item);
  if (items.size() != before.items.size()) return true;
  for (size_t i = 0; i < items.size(); ++i)
    if (IsChanged(before.items[i], items[i], depth + 1)) return true;
  return false;
}

ModuleState ModuleState::Of(Object& module) {
  ModuleState state;
  // Lists may hold one another, and be held many times.
  size_t left = 100'000;
  for (const auto& [path, object] : ObjectsOf(module))
    for (const auto& [name, value] : object->attributes)
      state.before_[{path, name}] = Snapshot(value, 0, left);
  return state;
}

std::vector<Slot> ModuleState::Changed(Object& module, Machine& machine) const {
  std::vector<Slot> slots;
  for (const auto& [path, object] : ObjectsOf(module)) {
    for (const auto& [name, now] : object->attributes) {
      const auto found = before_.find({path, name});
      if (found != before_.end() && !IsChanged(found->second, now, 0)) continue;
      Slot slot;
      slot.object = path;
      slot.attribute = name;
      slot.kind = now.kind;
      const Value& old = found == before_.end() ? now : found->second.value;
      if (now.is_tensor()) {
        const Tensor tensor = machine.Read(*now.cell);
        if (!machine.ok()) return {};
        slot.type = tensor.value()->type();
      } else if (now.is_number()) {
        slot.type = {ScalarDType(now.kind), {}};
        slot.is_known = now.is_known_number();
        slot.known = now;
        slot.starts_alike = old.kind == now.kind;
        slot.starts_with_zeros = slot.starts_alike && old.is_known_number() &&
                                 old.known_number() == 0;
      } else if (now.is(Kind::kObject) || now.is(Kind::kFunction)) {
        continue;  // its attributes are looked at on their own
      } else {
        machine.FailUnsupported(
            "attribute '" + OnOneLine(slot.name()) +
            "', which the model changes: expected a tensor or number, found " +
            OnOneLine(Describe(now)));
        return {};
      }
      slots.push_back(std::move(slot));
    }
  }
  return slots;
}

}  // namespace ember::torchscript
