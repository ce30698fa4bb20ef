// What an edge of a TensorFlow graph carries: a tensor, a complex tensor, a
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

// A TensorList, or what a TensorArray holds. Its elements are of one shape.
struct List {
  DType dtype = DType::kF32;
  // [count, element…]; absent until something tells the elements' shape.
  ops::Tensor data;
  ops::Dim count;  // while data is absent
  // What the list was made with; -1: open. Nullopt: not even how many dims.
  std::optional<std::vector<int64_t>> element_shape;
};

struct Value {
  ops::Tensor tensor;     // of complex numbers the real part
  ops::Tensor imaginary;  // of complex numbers
  std::shared_ptr<const List> list;
  std::string resource;    // a variable's name
  bool reference = false;  // of a variable that is read where it is used

  Value() = default;
  explicit Value(ops::Tensor plain) : tensor(std::move(plain)) {}

  bool is_tensor() const { return tensor.present() && !imaginary.present(); }
};

}  // namespace ember::tensorflow

#endif  // EMBER_FRONTENDS_TENSORFLOW_VALUE_H_
