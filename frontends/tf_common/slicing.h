// Slice and StridedSlice, as TensorFlow and TensorFlow Lite have them.
#ifndef EMBER_FRONTENDS_TF_COMMON_SLICING_H_
#define EMBER_FRONTENDS_TF_COMMON_SLICING_H_

#include <cstdint>

#include "frontends/tf_common/operator_base.h"

namespace ember::tf_common {

// A bit for each value of begin, end and strides.
struct SliceMasks {
  int64_t begin = 0;        // from the first element
  int64_t end = 0;          // to the last
  int64_t ellipsis = 0;     // stands for all dims that nothing else names
  int64_t new_axis = 0;     // a dim of 1 in the result
  int64_t shrink_axis = 0;  // one element; the dim is dropped
  bool end_is_offset = false;
};

// (x, begin, end, strides)
void ImportStridedSlice(OperatorBase& c, const SliceMasks& masks);
// (x, begin, size)
void ImportSlice(OperatorBase& c);

}  // namespace ember::tf_common

#endif  // EMBER_FRONTENDS_TF_COMMON_SLICING_H_
