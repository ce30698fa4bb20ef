// What an expression of a model's code is worth while the model is imported:
// a number, text or container that is known now, or a tensor of the graph that
// is being built. Numbers may be expressions of open dims, and numbers and
// booleans may also be known only when the model runs; they then are tensors
// without dims ("dynamic").
//
// Tensors, containers and objects have identity, as in PyTorch: values refer to
// them, and all that share one see what is written. A Heap owns them.
// Not thread-safe.
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_VALUE_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_VALUE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontends/ops/tensor.h"
#include "frontends/torchscript/syntax.h"

namespace ember::torchscript {

using ops::Dim;
using ops::Shape;
using ops::Tensor;

struct Cell;
struct List;
struct Dict;
struct Object;

struct Value {
  enum class Kind : uint8_t {
    kUninitialized,  // of a variable that no path reads
    kConflict,       // one thing or another, as the run decides; text says what
    kNone,
    kBool,
    kInt,
    kFloat,
    kString,
    kDevice,
    kFunction,  // a name in the code: text
    kTensor,
    kList,
    kTuple,
    kDict,
    kObject,
  };
  Kind kind = Kind::kNone;
  Dim dim;            // kInt, and 0 or 1 of kBool
  double number = 0;  // kFloat
  std::string text;
  Tensor dynamic;  // kBool, kInt, kFloat: i64[], f64[], bool[] where present
  Cell* cell = nullptr;
  List* list = nullptr;  // kList, kTuple
  Dict* dict = nullptr;
  Object* object = nullptr;

  static Value None() { return {}; }
  static Value Int(Dim dim) {
    Value value;
    value.kind = Kind::kInt;
    value.dim = std::move(dim);
    return value;
  }
  static Value Bool(bool is_true) {
    Value value = Int(Dim(is_true ? 1 : 0));
    value.kind = Kind::kBool;
    return value;
  }
  static Value Float(double number) {
    Value value;
    value.kind = Kind::kFloat;
    value.number = number;
    return value;
  }
  static Value Text(Kind kind, std::string text) {
    Value value;
    value.kind = kind;
    value.text = std::move(text);
    return value;
  }
  static Value Dynamic(Kind kind, Tensor scalar) {
    Value value;
    value.kind = kind;
    value.dynamic = std::move(scalar);
    return value;
  }

  bool is(Kind other) const { return kind == other; }
  bool is_none() const { return kind == Kind::kNone; }
  bool is_tensor() const { return kind == Kind::kTensor; }
  // A tensor whose integers stand for other numbers.
  bool is_quantized() const;
  bool is_complex() const;
  bool is_sequence() const {
    return kind == Kind::kList || kind == Kind::kTuple;
  }
  bool is_number() const {
    return kind == Kind::kBool || kind == Kind::kInt || kind == Kind::kFloat;
  }
  bool is_dynamic() const { return dynamic.present(); }
  // A number that is known now, as a number and not as an expression.
  bool is_known_number() const {
    return is_number() && !is_dynamic() &&
           (kind == Kind::kFloat || dim.is_constant());
  }
  double known_number() const {
    return kind == Kind::kFloat ? number : static_cast<double>(dim.constant());
  }
};

// How the numbers of a quantized tensor are stored as integers:
// (integer - zero_point) * scale.
struct Quantization {
  Tensor scale;       // f32: a scalar, or one per slice of an axis
  Tensor zero_point;  // i32, of the same shape
  int axis = -1;      // of them; -1: they are scalars
};

// A tensor with identity. A view reads and writes another one.
struct Cell {
  Tensor value;  // of a view: as of `stamp`
  // Weights become constants of the graph when they are first read.
  std::function<Tensor()> load;
  uint64_t stamp = 0;  // of the last write to the root that `value` is of
  Cell* base = nullptr;
  Cell* root = nullptr;  // itself, of what is no view
  std::function<Tensor(Tensor base)> read;
  // The base's new value; absent: this view cannot be written to.
  std::function<Tensor(Tensor base, Tensor value)> write;
  // Of views: how far apart in memory neighbours along each axis are, in
  // elements. Tensors that are no views are row-major.
  Shape strides;
  int views = 0;  // of views of views: how many
  // Absent: the tensor is not quantized.
  std::shared_ptr<const Quantization> quantization;
  // True: the tensor is one of complex numbers, whose real and imaginary parts
  // are the two elements of the last dim of `value`.
  bool is_complex = false;

  bool is_quantized() const { return quantization != nullptr; }
};

inline bool Value::is_quantized() const {
  return is_tensor() && cell->is_quantized();
}

inline bool Value::is_complex() const {
  return is_tensor() && cell->is_complex;
}

struct List {
  std::vector<Value> items;
  // Of named tuples: the names.
  const Class* fields = nullptr;
  // In how many regions whose run is not certain it was made.
  size_t level = 0;
};

struct Dict {
  std::vector<std::pair<Value, Value>> items;  // in order of insertion
  size_t level = 0;
};

struct Object {
  std::string class_name;  // "__torch__.Net"
  std::string path;        // "encoder.0": where it is in the model
  const Class* type = nullptr;
  std::map<std::string, Value, std::less<>> attributes;
  size_t level = 0;
};

// Owns what values refer to, whatever refers to what.
struct Heap {
  std::deque<Cell> cells;
  std::deque<List> lists;
  std::deque<Dict> dicts;
  std::deque<Object> objects;
};

// Whether two values are one: the same object, or the same number.
bool IsSame(const Value& a, const Value& b);

// "a tensor f32[2, N]", "an int", "None": how errors call it.
std::string Describe(const Value& value);

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_VALUE_H_
