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

// An attribute that calls change, or an item of one that is a list or tuple,
// and facts about the value that it has after a call.
struct StateEntry {
  // An index into a list or tuple, and what the index is into.
  struct Step {
    size_t index = 0;
    Value::Kind kind = Value::Kind::kTuple;
    size_t size = 0;
    const Class* fields = nullptr;  // List::fields
  };

  std::string object;  // Path of the object in the module.
  std::string attribute;
  // The steps from the value of the attribute to the item that the entry is; an
  // attribute that is no list or tuple has none.
  std::vector<Step> steps;
  // The kind of the value, and its type if it is a tensor.
  Value::Kind kind = Value::Kind::kTensor;
  graph::TensorType type;
  std::string text;  // describes the value in errors
  // The value, if it is known while importing.
  std::optional<FixedValue> fixed;
  // True for a tensor to which the call writes in place. Otherwise the call
  // assigns another tensor, which does not share memory with those that the
  // tensor before the call shared it with.
  bool is_same_tensor = false;
  // True if the method assigns the attribute before it reads it.
  bool is_replaced = false;
  // True for a number that is assumed to be the same after every call
  // (`known`).
  bool is_known = false;
  Value known;
  // True if the value before the first call has the same type as the value
  // after a call, and is all zeros.
  bool starts_with_zeros = false;
  // True if the value before the first call has the same type as the value
  // after a call.
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
  // Returns the item of an attribute; null if the attribute has not the lists
  // and tuples of the entry.
  const Value* Find(const Value& attribute) const;
  // Returns the item, after making lists and tuples where the attribute has not
  // those of the entry.
  Value& Make(Value& attribute, Machine& machine) const;
};

class ModuleState {
 public:
  static ModuleState Of(Object& module);

  // Attributes, each as the path of its object and its name.
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
    // Pairs of containers, one before and one now, that have equal items as far
    // as they were compared.
    std::set<std::pair<const void*, const void*>> pairs;
    size_t visited = 0;  // values that were compared
  };
  bool IsChanged(const Before& before, const Value& now,
                 Compared& compared) const;
  // Appends the entries of the tensors and numbers in a list or tuple. `entry`
  // is the entry of the list, `old` its value before the call; null if it had
  // none. Returns false if the list has other values.
  bool AddItems(const StateEntry& entry, const Value& now, const Value* old,
                Machine& machine, std::vector<StateEntry>& entries) const;

  std::set<const Object*> objects_;
  std::map<std::pair<std::string, std::string>, Before> before_;
  // The items that each list and dict had before. Each container has one entry,
  // because containers may contain each other, and may be contained many times.
  std::map<const void*, std::vector<Before>> items_;
};

// Returns all objects of a module, by path.
std::map<std::string, Object*> ObjectsOf(Object& module);

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_STATE_H_
