// The value of an edge of a TensorFlow graph: a tensor, a complex tensor, a
// list of tensors, or the name of a variable.
#ifndef EMBER_FRONTENDS_TENSORFLOW_VALUE_H_
#define EMBER_FRONTENDS_TENSORFLOW_VALUE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "frontends/ops/tensor.h"

namespace ember::tensorflow {

// A TensorList, or the contents of a TensorArray. All elements have one shape.
struct List {
  DType dtype = DType::kF32;
  // All elements as one tensor, [count, element…]. Absent while the shape of
  // the elements is unknown.
  ops::Tensor data;
  ops::Dim count;  // Number of elements, used while `data` is absent.
  // The shape with which the list was made; -1 is open. Nullopt if its rank is
  // unknown.
  std::optional<std::vector<int64_t>> element_shape;
};

struct Value {
  ops::Tensor tensor;     // The tensor; for complex numbers, their real part.
  ops::Tensor imaginary;  // The imaginary part; set for complex numbers only.
  std::shared_ptr<const List> list;
  std::string resource;  // a variable's name
  // True if the value refers to the variable `resource`, which is read where
  // the value is used.
  bool reference = false;

  Value() = default;
  explicit Value(ops::Tensor plain) : tensor(std::move(plain)) {}

  bool is_tensor() const { return tensor.present() && !imaginary.present(); }
};

}  // namespace ember::tensorflow

#endif  // EMBER_FRONTENDS_TENSORFLOW_VALUE_H_
