// Reads Python pickles as data: the instructions become a tree of values, and
// nothing is executed. A class becomes its name; a call becomes the name and
// its arguments.
//
//   EMBER_ASSIGN_OR_RETURN(const Pickle pickle, Pickle::Read(contents));
//   pickle.root().kind == PickleValue::Kind::kCall;
//   pickle.root().callee->text == "torch._utils._rebuild_tensor_v2";
//
// A memoized value may be an item of several other values, and even of itself,
// so code that follows items must limit its depth. Protocols 0 to 5 are read as
// far as PyTorch writes them, and so are plain data of Python's own pickler.
// Integers have at most 64 bits. There are at most kMaxValues values.
//
// Source: the comments of CPython's Lib/pickletools.py.
//
// Errors are one line with the offset. Immutable, thread-safe.
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_PICKLE_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_PICKLE_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace ember::torchscript {

struct PickleValue {
  enum class Kind : uint8_t {
    kNone,
    kBool,
    kInteger,
    kFloat,
    kString,  // also bytes
    kList,    // also sets
    kTuple,
    // `items` alternate between keys and values: key, value, key, value ….
    kDict,
    kGlobal,  // text: "module.name"
    // A call of the function `callee` with the arguments `items`. If the pickle
    // sets a state of the resulting object (__setstate__), `state` has it.
    kCall,
    // An object outside of the pickle, such as a storage, which the pickle
    // refers to by a persistent ID. `items` are the parts of the ID.
    kPersistent,
  };
  Kind kind = Kind::kNone;
  int64_t integer = 0;  // also for kBool
  double number = 0;
  std::string text;
  std::vector<const PickleValue*> items;
  const PickleValue* callee = nullptr;
  const PickleValue* state = nullptr;

  // Returns the value of a dict for a key that is a string; null if the dict
  // does not have the key.
  const PickleValue* Find(std::string_view key) const;
};

class Pickle {
 public:
  static constexpr size_t kMaxValues = size_t{1} << 22;

  static StatusOr<Pickle> Read(std::span<const uint8_t> bytes);

  const PickleValue& root() const { return *root_; }

 private:
  friend class PickleReader;
  Pickle() = default;

  std::deque<PickleValue> values_;
  const PickleValue* root_ = nullptr;
};

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_PICKLE_H_
