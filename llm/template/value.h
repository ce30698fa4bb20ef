// The values of templates: those of Python that chat templates use.
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
  // Attributes that a template sets.
  struct Namespace {
    std::map<std::string, Value, std::less<>> attributes;
  };
  struct Loop;  // State of a for statement; in evaluator.h.

  Value() : kind_(Kind::kNone) {}
  explicit Value(bool value) : kind_(Kind::kBool), integer_(value) {}
  explicit Value(int64_t value) : kind_(Kind::kInteger), integer_(value) {}
  explicit Value(double value) : kind_(Kind::kFloat), float_(value) {}
  explicit Value(std::string text);
  explicit Value(std::string_view text) : Value(std::string(text)) {}
  explicit Value(const char* text) : Value(std::string(text)) {}
  // `why` is the error of a template that needs the value: "'x' is undefined".
  static Value Undefined(std::string_view why);
  static Value List(Items items);
  static Value Tuple(Items items);
  static Value OfDict(Dict dict);
  static Value OfNamespace(std::shared_ptr<Namespace> value);
  // `depth` is that of the values that the function holds.
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

  // The value must be of the kind.
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
  // Says why an undefined value does not exist.
  const std::string& why_undefined() const { return Payload<std::string>(); }

  // Number of bytes and values that printing visits, saturating.
  uint64_t Weight() const;
  // Nested lists, dicts and functions, saturating.
  uint8_t depth() const { return depth_; }

  // Python's bool(value).
  bool IsTrue() const;
  // Python's str(value) and repr(value). A namespace prints without its
  // attributes, which may contain itself.
  std::string ToText() const { return Print(false); }
  std::string Repr() const { return Print(true); }
  // The name of the type in messages: "str", "list", ...
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
    int64_t integer_ = 0;  // The weight, if the value is no number.
    double float_;
  };
  // A std::string, Items, Dict, Namespace, Function or Loop, by the kind.
  std::shared_ptr<void> payload_;
};

// Pairs of keys and values in the order in which they were inserted.
class Dict {
 public:
  // Replaces the value of an equal key.
  void Set(Value key, Value value);
  // Returns null if there is no such key.
  const Value* Find(const Value& key) const;
  const Value* Find(std::string_view key) const;
  const std::vector<std::pair<Value, Value>>& entries() const {
    return entries_;
  }
  size_t size() const { return entries_.size(); }

 private:
  std::vector<std::pair<Value, Value>> entries_;
  // Indices of entries by their keys; keys that are no texts by a text that is
  // the same for equal keys.
  std::map<std::string, size_t, std::less<>> texts_, others_;
};

// The arguments of a call.
struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;

  // Returns the positional argument, or the named one, or null.
  const Value* Find(size_t position, std::string_view name) const;
  // Returns an error if there are more arguments than `most` positional ones,
  // or a named one that is not in `names`.
  Status Check(std::string_view function, size_t most,
               std::initializer_list<std::string_view> names) const;
};

// Python's ==.
bool AreEqual(const Value& a, const Value& b);
// Python's <; an error for values that have no order.
StatusOr<bool> IsLess(const Value& a, const Value& b);

// Python's repr of a float: the shortest text that reads as the same number.
std::string FloatText(double value);

}  // namespace ember::llm

#endif  // EMBER_LLM_TEMPLATE_VALUE_H_
