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

  // Makes the value anew, with new lists and objects.
  Value Make(Machine& machine) const;

  bool operator==(const FixedValue& other) const;

 private:
  static std::optional<FixedValue> Of(const Value& value, int depth,
                                      int& parts);

  // The value; of a list, tuple or object only its kind is used.
  Value leaf_;
  std::vector<FixedValue> parts_;
  // Objects: the class, and the names of the attributes that `parts_` has.
  std::string class_name_;
  const Class* type_ = nullptr;
  std::vector<std::string> names_;
};

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_FIXED_VALUE_H_
