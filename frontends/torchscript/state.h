// What a module keeps from call to call: the attributes that a method changed.
//
//   const ModuleState before = ModuleState::Of(*net);
//   …                                        // runs forward
//   std::vector<Slot> slots = before.Changed(*net, machine);
//
// Not thread-safe.
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_STATE_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_STATE_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "frontends/torchscript/machine.h"
#include "frontends/torchscript/value.h"

namespace ember::torchscript {

// An attribute that changes, and what it is after a call.
struct Slot {
  std::string object;  // its path in the module
  std::string attribute;
  // A tensor of this type, or a number of this kind.
  Value::Kind kind = Value::Kind::kTensor;
  graph::TensorType type;
  // A number that is the same after every call, as far as is known.
  bool is_known = false;
  Value known;
  // Before the first call: of the same type and all zeros.
  bool starts_with_zeros = false;
  // Before the first call: of the same type.
  bool starts_alike = false;

  std::string name() const {
    return object.empty() ? attribute : object + "." + attribute;
  }
};

class ModuleState {
 public:
  static ModuleState Of(Object& module);

  // Empty, with an error of the machine, where an attribute changed that is
  // neither a tensor nor a number. In their order in the module.
  std::vector<Slot> Changed(Object& module, Machine& machine) const;

 private:
  struct Before {
    Value value;
    uint64_t stamp = 0;
  };
  // compared: lists and dicts that are not looked at again.
  bool IsChanged(const Before& before, const Value& now,
                 std::set<const void*>& compared) const;

  std::map<std::pair<std::string, std::string>, Before> before_;
  // What lists and dicts held. Each is here once: they may hold one another,
  // and be held many times.
  std::map<const void*, std::vector<Before>> items_;
};

// All objects of a module, by path.
std::map<std::string, Object*> ObjectsOf(Object& module);

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_STATE_H_
