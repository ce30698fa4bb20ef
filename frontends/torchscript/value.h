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
    kUninitialized,  // The value of a variable that no path of the code reads.
    // A value that is one of two values which could not be merged; `text`
    // describes it.
    kConflict,
    kNone,
    kBool,
    kInt,
    kFloat,
    kString,
    kDevice,
    kFunction,  // A function of the code, whose name is `text`.
    kTensor,
    kList,
    kTuple,
    kDict,
    kObject,
  };
  Kind kind = Kind::kNone;
  Dim dim;            // The value of a kInt; 0 or 1 for a kBool.
  double number = 0;  // kFloat
  std::string text;
  // For a kInt, kFloat or kBool that is known only at run time: its scalar, of
  // type i64[], f64[] or bool[].
  Tensor dynamic;
  // A bool that only the run knows may be a test of `dim`, which is then an
  // expression of extents: it is true if `dim` is positive, or if it is 0.
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
  // True for a tensor whose integers represent real numbers (Quantization).
  bool is_quantized() const;
  bool is_complex() const;
  bool is_sequence() const {
    return kind == Kind::kList || kind == Kind::kTuple;
  }
  bool is_number() const {
    return kind == Kind::kBool || kind == Kind::kInt || kind == Kind::kFloat;
  }
  bool is_dynamic() const { return dynamic.present(); }
  // True for a number that is known now and is no expression.
  bool is_known_number() const {
    return is_number() && !is_dynamic() &&
           (kind == Kind::kFloat || dim.is_constant());
  }
  double known_number() const {
    return kind == Kind::kFloat ? number : static_cast<double>(dim.constant());
  }
};

// The relation of the integers of a quantized tensor to the numbers that they
// represent: number = (integer - zero_point) * scale.
struct Quantization {
  Tensor scale;       // The scale, f32: a scalar, or one per slice of an axis.
  Tensor zero_point;  // The zero point, i32, of the same shape as the scale.
  int axis = -1;      // The axis of the scales; -1 if the scale is a scalar.
};

// A tensor with identity. A view reads and writes another tensor.
struct Cell {
  Tensor value;  // The value of the tensor; for a view, its value at `stamp`.
  // Adds a weight as a constant to the graph, when it is first read. Null for
  // other tensors.
  std::function<Tensor()> load;
  // The stamp of the last write to the root tensor that `value` includes.
  uint64_t stamp = 0;
  // The stamp of the time when the tensor was made, or got its present shape.
  uint64_t made = 0;
  Cell* base = nullptr;
  // The tensor of which this one is a view, directly or through other views;
  // the cell itself if it is no view.
  Cell* root = nullptr;
  std::function<Tensor(Tensor base)> read;
  // Returns the new value of the base after a write of `value` to this view;
  // null if the view cannot be written to.
  std::function<Tensor(Tensor base, Tensor value)> write;
  // Strides of a view: the distance in memory, in elements, of neighbours along
  // each axis. Tensors that are no views are row-major.
  Shape strides;
  int views = 0;  // Number of views between this cell and its root.
  // The quantization; null if the tensor is not quantized.
  std::shared_ptr<const Quantization> quantization;
  // True if the elements are complex numbers, whose real and imaginary parts
  // are the two elements of the last dim of `value`.
  bool is_complex = false;
  // True for a constant of the code without dims. Tracing stores the number 1.5
  // of x * 1.5 so.
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
  // Number of regions that contain the code that made the list.
  size_t level = 0;
};

struct Dict {
  // The items (key, value), in order of insertion.
  std::vector<std::pair<Value, Value>> items;
  size_t level = 0;
  // Name of the model's argument that the dict is; empty for other dicts.
  std::string argument;
};

struct Object {
  std::string class_name;  // "__torch__.Net"
  // Path of the object in the model, such as "encoder.0".
  std::string path;
  const Class* type = nullptr;
  std::map<std::string, Value, std::less<>> attributes;
  // Attributes that code has read, and attributes that code outside of branches
  // and loops assigned before any code had read them. The values that the
  // latter have before a call do not matter.
  std::set<std::string, std::less<>> read;
  std::set<std::string, std::less<>> replaced;
  size_t level = 0;
};

// Owns all objects to which values refer; the objects may refer to each other.
struct Heap {
  std::deque<Cell> cells;
  std::deque<List> lists;
  std::deque<Dict> dicts;
  std::deque<Object> objects;
};

// True if two values are the same object, or the same number.
bool IsSame(const Value& a, const Value& b);

// Returns the name of a value in errors: "a tensor f32[2, N]", "an int",
// "None".
std::string Describe(const Value& value);

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_VALUE_H_
