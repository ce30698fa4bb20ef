// A value that is known while the model is imported, kept apart from the
// machine that computed it: None, numbers, texts, and lists, tuples and objects
// of such values.
//
//   const std::optional<FixedValue> fixed = FixedValue::Of(value);
//   if (fixed) attribute = fixed->Make(other_machine);
//
// Not thread-safe.
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_FIXED_VALUE_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_FIXED_VALUE_H_

#include <optional>
#include <string>
#include <vector>

#include "frontends/torchscript/machine.h"
#include "frontends/torchscript/value.h"

namespace ember::torchscript {

class FixedValue {
 public:
  // Returns nullopt if the value is or has a tensor, a dict or a number that
  // only the run knows, or if it has more than 1000 parts.
  static std::optional<FixedValue> Of(const Value& value);

  // Makes an equal value that belongs to another machine; its lists and objects
  // are new ones.
  Value Make(Machine& machine) const;

  bool operator==(const FixedValue& other) const;

 private:
  static std::optional<FixedValue> Of(const Value& value, int depth,
                                      int& parts);

  // The value itself, if it is None, a number or a text. For a list, tuple or
  // object only the kind is used, and parts_ has its items.
  Value leaf_;
  std::vector<FixedValue> parts_;
  // For an object: its class, and the names of the attributes whose values are
  // in parts_, in the same order.
  std::string class_name_;
  const Class* type_ = nullptr;
  std::vector<std::string> names_;
};

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_FIXED_VALUE_H_
