// Slice and StridedSlice, which are the same in TensorFlow and TensorFlow Lite.
#ifndef EMBER_FRONTENDS_TF_COMMON_SLICING_H_
#define EMBER_FRONTENDS_TF_COMMON_SLICING_H_

#include <cstdint>

#include "frontends/tf_common/operator_base.h"

namespace ember::tf_common {

// Masks with a bit for each value of begin, end and strides.
struct SliceMasks {
  int64_t begin = 0;        // begin at the first element
  int64_t end = 0;          // end at the last element
  int64_t ellipsis = 0;     // covers all dims that no other entry covers
  int64_t new_axis = 0;     // adds a dim of 1 to the result
  int64_t shrink_axis = 0;  // takes one element and drops the dim
  bool end_is_offset = false;
};

// Operands: (x, begin, end, strides).
void ImportStridedSlice(OperatorBase& c, const SliceMasks& masks);
// Operands: (x, begin, size).
void ImportSlice(OperatorBase& c);

}  // namespace ember::tf_common

#endif  // EMBER_FRONTENDS_TF_COMMON_SLICING_H_
