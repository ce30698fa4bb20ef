// The state that a module keeps between calls: the attributes that a method
// changed.
//
//   const ModuleState before = ModuleState::Of(*net);
//   …                                        // runs forward
//   std::vector<StateEntry> entries = before.Changed(*net, machine);
//
// Not thread-safe.
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_STATE_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_STATE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "frontends/torchscript/fixed_value.h"
#include "frontends/torchscript/machine.h"
#include "frontends/torchscript/value.h"

namespace ember::torchscript {

// A part of the state: an attribute that calls change, or an item in a list or
// tuple that is the attribute. Its fields describe the value after a call.
struct StateEntry {
  // One step from a list or tuple to its item `index`. `kind`, `size` and
  // `fields` describe the list or tuple, so that Make can create it.
  struct Step {
    size_t index = 0;
    Value::Kind kind = Value::Kind::kTuple;
    size_t size = 0;
    const Class* fields = nullptr;  // List::fields
  };

  std::string object;  // Path of the object in the module.
  std::string attribute;
  // The steps that lead from the attribute's value to the entry's item; empty
  // if the attribute itself is the entry.
  std::vector<Step> steps;
  // The value's kind and, if it is a tensor, its element type and shape.
  Value::Kind kind = Value::Kind::kTensor;
  graph::TensorType type;
  std::string text;  // name of the value in errors
  // The value after the call, if it is known during the import.
  std::optional<FixedValue> fixed;
  // True if calls write to the tensor in place, so that all values that refer
  // to it change. False if they assign another tensor.
  bool is_same_tensor = false;
  // True if a call assigns the attribute before it reads it, so that its value
  // before the call does not matter.
  bool is_replaced = false;
  // True for a number that is assumed to have the same value, `known`, after
  // every call.
  bool is_known = false;
  Value known;
  // True if the initial value (before the first call) is all zeros and has the
  // same type as the value after a call. The state begins as zeros, so the
  // first call then needs no special case.
  bool starts_with_zeros = false;
  // True if the initial value has the same type as the value after a call.
  bool starts_alike = false;

  bool is_number() const {
    return kind == Value::Kind::kBool || kind == Value::Kind::kInt ||
           kind == Value::Kind::kFloat;
  }
  std::string name() const {
    std::string name = object.empty() ? attribute : object + "." + attribute;
    for (const Step& step : steps) name += "." + std::to_string(step.index);
    return name;
  }
  // Returns the item of an attribute; null if the attribute's lists and tuples
  // differ from those of the entry.
  const Value* Find(const Value& attribute) const;
  // Returns the item of an attribute, for assignment. Lists and tuples on the
  // way that differ from those of the entry are replaced by new ones.
  Value& Make(Value& attribute, Machine& machine) const;
};

class ModuleState {
 public:
  static ModuleState Of(Object& module);

  // Names of attributes: pairs of the object's path and the attribute's name.
  using Names = std::set<std::pair<std::string, std::string>>;
  // Returns the changed attributes that are tensors, numbers, lists and tuples
  // of them, or values known while importing, in their order in the module. A
  // list or tuple has one entry per item. `dropped` gets the changed
  // attributes of other values that the method assigns before it reads them;
  // they are no state unless a later call reads them first. Any other changed
  // attribute is an error of the machine, and the result is empty. A list or
  // dict is unchanged if its items are, even if the method has made a new list
  // or dict of them.
  std::vector<StateEntry> Changed(Object& module, Machine& machine,
                                  Names& dropped) const;

 private:
  struct Before {
    Value value;
    uint64_t stamp = 0;
  };
  struct Compared {
    // Pairs of a container before the call and one after it that are assumed to
    // have equal items: those found equal, and those being compared.
    std::set<std::pair<const void*, const void*>> pairs;
    size_t visited = 0;  // number of values compared so far, which is limited
  };
  bool IsChanged(const Before& before, const Value& now,
                 Compared& compared) const;
  // Appends an entry for each tensor and number in `now`, a list or tuple that
  // the attribute of `entry` holds. `old`: the value before the call; null if
  // there was none. Returns false if the list has values of other kinds, is
  // nested too deep or has too many items.
  bool AddItems(const StateEntry& entry, const Value& now, const Value* old,
                Machine& machine, std::vector<StateEntry>& entries) const;

  std::set<const Object*> objects_;
  std::map<std::pair<std::string, std::string>, Before> before_;
  // The items of each list and dict before the call, by the container's
  // address. A container in several others is recorded only once.
  std::map<const void*, std::vector<Before>> items_;
};

// Returns all objects of a module, by path.
std::map<std::string, Object*> ObjectsOf(Object& module);

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_STATE_H_
