// The values in templates, which behave like Python's values.
//
//   Value list = Value::List({Value("a"), Value(int64_t{2})});
//   list.Repr();            // ['a', 2]
//   Value(true).ToText();   // True
//
// Values are immutable, except namespaces, and share their contents when they
// are copied. A value that contains another one many times is small, but takes
// long to print: Weight() and depth() say how large it is, and the evaluator
// refuses large ones. Integers have 64 bits; a template whose numbers are
// larger gets an error. Texts are UTF-8 and are counted in characters. A value
// that does not exist is kUndefined, with the name by which the template asked
// for it. Thread-compatible.
#ifndef EMBER_LLM_TEMPLATE_VALUE_H_
#define EMBER_LLM_TEMPLATE_VALUE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace ember::llm {

class Evaluator;
struct Arguments;
class Dict;

class Value {
 public:
  enum class Kind : uint8_t {
    kUndefined,
    kNone,
    kBool,
    kInteger,
    kFloat,
    kText,
    kList,
    kTuple,
    kDict,
    kNamespace,
    kFunction,
    kLoop,
  };
  using Items = std::vector<Value>;
  using Function = std::function<StatusOr<Value>(Evaluator&, const Arguments&)>;
  // The attributes of a namespace, the only kind of value that a template can
  // change.
  struct Namespace {
    std::map<std::string, Value, std::less<>> attributes;
  };
  struct Loop;  // state of a for statement, defined in evaluator.h

  Value() : kind_(Kind::kNone) {}
  explicit Value(bool value) : kind_(Kind::kBool), integer_(value) {}
  explicit Value(int64_t value) : kind_(Kind::kInteger), integer_(value) {}
  explicit Value(double value) : kind_(Kind::kFloat), float_(value) {}
  explicit Value(std::string text);
  explicit Value(std::string_view text) : Value(std::string(text)) {}
  explicit Value(const char* text) : Value(std::string(text)) {}
  // Makes an undefined value. If the template needs it, the error is `why`:
  // "'x' is undefined".
  static Value Undefined(std::string_view why);
  static Value List(Items items);
  static Value Tuple(Items items);
  static Value OfDict(Dict dict);
  static Value OfNamespace(std::shared_ptr<Namespace> value);
  // Makes a function. `depth` is the depth of the values that it holds.
  static Value OfFunction(Function function, uint8_t depth = 0);
  static Value OfLoop(std::shared_ptr<Loop> loop, uint8_t depth);

  Kind kind() const { return kind_; }
  bool is_undefined() const { return kind_ == Kind::kUndefined; }
  bool is_none() const { return kind_ == Kind::kNone; }
  bool is_text() const { return kind_ == Kind::kText; }
  bool is_integer() const {
    return kind_ == Kind::kInteger || kind_ == Kind::kBool;
  }
  bool is_number() const { return is_integer() || kind_ == Kind::kFloat; }
  bool is_sequence() const {
    return kind_ == Kind::kList || kind_ == Kind::kTuple;
  }
  bool is_dict() const { return kind_ == Kind::kDict; }

  // Return the contents. The value must be of that kind.
  int64_t integer() const { return integer_; }
  double number() const {
    return kind_ == Kind::kFloat ? float_ : static_cast<double>(integer_);
  }
  const std::string& text() const { return Payload<std::string>(); }
  const Items& items() const { return Payload<Items>(); }
  const Dict& dict() const { return Payload<Dict>(); }
  Namespace& attributes() const {
    return *static_cast<Namespace*>(payload_.get());
  }
  const Function& function() const { return Payload<Function>(); }
  Loop& loop() const { return *static_cast<Loop*>(payload_.get()); }
  // Returns the error message that explains why the value is undefined.
  const std::string& why_undefined() const { return Payload<std::string>(); }

  // Returns the weight: the number of bytes and values that printing visits. It
  // saturates instead of overflowing.
  uint64_t Weight() const;
  // Returns how deep lists, dicts and functions are nested in the value. It
  // saturates.
  uint8_t depth() const { return depth_; }

  // Python's bool(value).
  bool IsTrue() const;
  // Return Python's str(value) and repr(value). The attributes of a namespace
  // are not printed, because it may contain itself.
  std::string ToText() const { return Print(false); }
  std::string Repr() const { return Print(true); }
  // Returns the name of the type for messages: "str", "list", ...
  std::string_view TypeName() const;

 private:
  std::string Print(bool is_repr) const;

  template <typename T>
  const T& Payload() const {
    return *static_cast<const T*>(payload_.get());
  }
  template <typename T>
  static Value WithPayload(Kind kind, std::shared_ptr<T> payload,
                           int64_t weight = 1, uint8_t depth = 0) {
    Value value;
    value.kind_ = kind;
    value.integer_ = weight;
    value.depth_ = depth;
    value.payload_ = std::move(payload);
    return value;
  }

  Kind kind_;
  uint8_t depth_ = 0;
  union {
    int64_t integer_ = 0;  // an integer or bool; for kinds other than numbers:
                           // the result of Weight()
    double float_;
  };
  // The contents of a text, list, tuple, dict, namespace, function or loop; the
  // type depends on kind_.
  std::shared_ptr<void> payload_;
};

// A dict: pairs of keys and values in the order in which they were inserted.
class Dict {
 public:
  // Adds a pair. If the dict has an equal key, its value is replaced.
  void Set(Value key, Value value);
  // Returns the value of a key; null if the dict does not have the key.
  const Value* Find(const Value& key) const;
  const Value* Find(std::string_view key) const;
  const std::vector<std::pair<Value, Value>>& entries() const {
    return entries_;
  }
  size_t size() const { return entries_.size(); }

 private:
  std::vector<std::pair<Value, Value>> entries_;
  // Map each key to its index in entries_: texts_ has keys that are texts;
  // others_ has the other keys, by a text that is the same for equal keys.
  std::map<std::string, size_t, std::less<>> texts_, others_;
};

// The arguments of a call of a filter, test, function or method.
struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;

  // Returns the argument at this position or with this name, or null if there
  // is none.
  const Value* Find(size_t position, std::string_view name) const;
  // Checks the arguments of a call of `function`. Error: there are more than
  // `most` positional ones, or a named one that is not in `names`.
  Status Check(std::string_view function, size_t most,
               std::initializer_list<std::string_view> names) const;
};

// Python's ==.
bool AreEqual(const Value& a, const Value& b);
// Implements Python's a < b. Error: the values have no order.
StatusOr<bool> IsLess(const Value& a, const Value& b);

// Returns Python's repr of a float: the shortest text that reads back as the
// same number.
std::string FloatText(double value);

}  // namespace ember::llm

#endif  // EMBER_LLM_TEMPLATE_VALUE_H_
