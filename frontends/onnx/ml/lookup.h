// Tables from keys to values, known when compiling, applied to every element of
// a tensor.
//
//   Column keys = ReadColumn(c, "keys");        // keys_int64s, keys_floats, …
//   Tensor y = Lookup(c, x, keys, values, otherwise);
//
// A handful of keys is compared one by one, consecutive integers are an offset,
// and everything else is a binary search of ⌈log2 n⌉ gathers. Floats are equal
// by value, and NaN to NaN; of equal keys the last counts.
#ifndef EMBER_FRONTENDS_ONNX_ML_LOOKUP_H_
#define EMBER_FRONTENDS_ONNX_ML_LOOKUP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "frontends/onnx/ml/attributes.h"
#include "frontends/onnx/node/context.h"

namespace ember::onnx {

// A list of elements of one type, such as all keys of a table: integers (or
// handles of strings) or floats.
struct Column {
  DType dtype = DType::kI64;
  bool strings = false;
  std::vector<int64_t> integers;
  std::vector<double> floats;

  bool is_float() const { return IsFloat(dtype); }
  size_t size() const { return is_float() ? floats.size() : integers.size(); }
  // Returns the elements at `positions`, as a constant.
  Tensor Vector(NodeContext& c, const std::vector<size_t>& positions) const;
  // Returns the only element of a column of one element, as a constant.
  Tensor Scalar(NodeContext& c) const;
};

Column IntegerColumn(std::vector<int64_t> values, bool strings = false);
Column FloatColumn(std::vector<double> values);

// Reads one of `name`_strings, _int64s, _floats and _tensor; fails if none or
// more than one is present.
Column ReadColumn(NodeContext& c, const std::string& name);
// Reads a TENSOR attribute as a column.
Column ReadTensorColumn(NodeContext& c, const std::string& name);

// Returns values[i] where x is keys[i], else `otherwise` (a column of one
// element). Fails unless x has the keys' type.
Tensor Lookup(NodeContext& c, Tensor x, const Column& keys,
              const Column& values, const Column& otherwise);

}  // namespace ember::onnx

#endif  // EMBER_FRONTENDS_ONNX_ML_LOOKUP_H_
