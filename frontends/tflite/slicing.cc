// SLICE and STRIDED_SLICE.
#include "frontends/tf_common/slicing.h"

#include "frontends/tflite/operator_table.h"

namespace ember::tflite {

void ImportStridedSlice(OperatorContext& c) {
  const auto& o = c.Options<schema::StridedSliceOptions>();
  tf_common::ImportStridedSlice(c, {.begin = o.begin_mask(),
                                    .end = o.end_mask(),
                                    .ellipsis = o.ellipsis_mask(),
                                    .new_axis = o.new_axis_mask(),
                                    .shrink_axis = o.shrink_axis_mask(),
                                    .end_is_offset = o.offset()});
}

void ImportSlice(OperatorContext& c) { tf_common::ImportSlice(c); }

}  // namespace ember::tflite
