// The value of an expression of a model's code while the model is imported: a
// number, text or container that is known now, or a tensor of the graph that is
// being built. Numbers may be expressions of open dims. Numbers and booleans
// may also be known only at run time; they are then tensors without dims
// ("dynamic").
//
// Tensors, containers and objects have identity, as in PyTorch: values refer to
// them, and a write is visible through all values that refer to the same one. A
// Heap owns them. Not thread-safe.
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_VALUE_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_VALUE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
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
    // A variable that has no value on this path; no code reads it there.
    kUninitialized,
    // A variable whose values after two branches could not be merged; `text`
    // describes it in the error about a later use.
    kConflict,
    kNone,
    kBool,
    kInt,
    kFloat,
    kString,
    kDevice,
    kFunction,  // A function of the model's code; `text` is its name.
    kTensor,
    kList,
    kTuple,
    kDict,
    kObject,
  };
  Kind kind = Kind::kNone;
  // For a kInt: the number, or an expression of open dims. For a kBool: 0 or 1.
  Dim dim;
  double number = 0;  // kFloat
  std::string text;
  // For a number or bool that is known only at run time: the scalar of the
  // graph that holds it, i64[] (kInt), f64[] (kFloat) or bool[] (kBool).
  Tensor dynamic;
  // For a bool that is known only at run time: kIsPositive or kIsZero if it is
  // known to be the test `dim` > 0 or `dim` = 0, where `dim` is an expression
  // of extents.
  enum class DimTest : uint8_t { kNone, kIsPositive, kIsZero };
  DimTest dim_test = DimTest::kNone;
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
  // True for a quantized tensor: its elements are integers that represent real
  // numbers (Quantization).
  bool is_quantized() const;
  bool is_complex() const;
  bool is_sequence() const {
    return kind == Kind::kList || kind == Kind::kTuple;
  }
  bool is_number() const {
    return kind == Kind::kBool || kind == Kind::kInt || kind == Kind::kFloat;
  }
  bool is_dynamic() const { return dynamic.present(); }
  // True for a number whose value is known: it is neither an expression of open
  // dims nor computed by the program.
  bool is_known_number() const {
    return is_number() && !is_dynamic() &&
           (kind == Kind::kFloat || dim.is_constant());
  }
  double known_number() const {
    return kind == Kind::kFloat ? number : static_cast<double>(dim.constant());
  }
};

// The quantization of a tensor of integers. The real number that an element
// represents is (integer - zero_point) * scale.
struct Quantization {
  Tensor scale;       // The scale, f32: a scalar, or one per slice of an axis.
  Tensor zero_point;  // The zero point, i32, of the same shape as the scale.
  int axis = -1;      // The axis of the scales; -1 if the scale is a scalar.
};

// A tensor as code sees it: an object that can be written to and viewed. A view
// reads from and writes to another cell, its base.
struct Cell {
  // The contents of the tensor. Those of a view may be out of date (see
  // `stamp`).
  Tensor value;
  // For a weight that no code has read yet: adds it to the graph as a constant.
  // Null for other tensors.
  std::function<Tensor()> load;
  // Stamp (number in the order of all writes) of the last write that `value`
  // includes. If the root's stamp is another one, a view must be read again.
  uint64_t stamp = 0;
  // Stamp of the making of the tensor, or of the last change of its shape in
  // place.
  uint64_t made = 0;
  Cell* base = nullptr;
  // The tensor that holds the elements: this cell itself, or the one of which
  // it is a view, directly or through other views.
  Cell* root = nullptr;
  std::function<Tensor(Tensor base)> read;
  // For a view: returns the new contents of the base after `value` is written
  // to the view. Null if the view cannot be written to.
  std::function<Tensor(Tensor base, Tensor value)> write;
  // For a view: the distance in memory, in elements, of neighbours along each
  // axis. A tensor that is no view is row-major.
  Shape strides;
  int views = 0;  // Number of views from this cell to its root.
  // The quantization; null if the tensor is not quantized.
  std::shared_ptr<const Quantization> quantization;
  // True if the elements are complex numbers, whose real and imaginary parts
  // are the two elements of the last dim of `value`.
  bool is_complex = false;
  // True for a constant of the code without dims. Tracing x * 1.5 stores the
  // number 1.5 as such a tensor, but PyTorch treated it as a number.
  bool is_traced_number = false;

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
  // The class of a named tuple, with the names of its fields.
  const Class* fields = nullptr;
  // Number of nested regions (branches, loops) in which the list was made. Code
  // in a region inside of these must not change it.
  size_t level = 0;
};

struct Dict {
  // The items (key, value), in order of insertion.
  std::vector<std::pair<Value, Value>> items;
  size_t level = 0;
  // If the dict is an argument of the model: name of the argument; else empty.
  std::string argument;
};

struct Object {
  std::string class_name;  // "__torch__.Net"
  // Path of the object in the model, such as "encoder.0".
  std::string path;
  const Class* type = nullptr;
  std::map<std::string, Value, std::less<>> attributes;
  // `read`: attributes that code has read. `replaced`: attributes that code
  // assigned, outside of branches and loops, before any code had read them; so
  // their values before a call do not matter.
  std::set<std::string, std::less<>> read;
  std::set<std::string, std::less<>> replaced;
  size_t level = 0;
};

// Owns the cells, containers and objects to which values refer. They live as
// long as the heap, as they may refer to each other.
struct Heap {
  std::deque<Cell> cells;
  std::deque<List> lists;
  std::deque<Dict> dicts;
  std::deque<Object> objects;
};

// True if two values are the same object (tensor, container, object), equal
// numbers or texts, or both None.
bool IsSame(const Value& a, const Value& b);

// Returns the name of a value in errors: "a tensor f32[2, N]", "an int",
// "None".
std::string Describe(const Value& value);

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_VALUE_H_
