// Slice and StridedSlice, which are the same in TensorFlow and TensorFlow Lite.
#ifndef EMBER_FRONTENDS_TF_COMMON_SLICING_H_
#define EMBER_FRONTENDS_TF_COMMON_SLICING_H_

#include <cstdint>

#include "frontends/tf_common/operator_base.h"

namespace ember::tf_common {

// Bit masks of a strided slice. Bit i is for entry i of begin, end and strides.
struct SliceMasks {
  // Bit i: the slice begins at the first element of its dim, whatever entry i
  // of `begin` says.
  int64_t begin = 0;
  // Bit i: the slice ends after the last element of its dim, whatever entry i
  // of `end` says.
  int64_t end = 0;
  // Bit i: entry i is an ellipsis, which covers all dims that no other entry
  // covers.
  int64_t ellipsis = 0;
  int64_t new_axis = 0;  // Bit i: entry i adds a dim of 1 to the result.
  // Bit i: entry i selects one element, and the result lacks its dim.
  int64_t shrink_axis = 0;
  bool end_is_offset = false;
};

// Imports StridedSlice. Operands: (x, begin, end, strides).
void ImportStridedSlice(OperatorBase& c, const SliceMasks& masks);
// Imports Slice. Operands: (x, begin, size).
void ImportSlice(OperatorBase& c);

}  // namespace ember::tf_common

#endif  // EMBER_FRONTENDS_TF_COMMON_SLICING_H_
