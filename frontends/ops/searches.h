// Searches for the place of a largest or smallest element, as ArgMax does.
//
//   const Tensor place = PlaceOfExtreme(x, 1, "maximum");   // x: [N, 4] → [N]
//
// An axis without elements has no such place. A search of it is refused: when
// the model is imported if the extent is known then, else when it runs.
#ifndef EMBER_FRONTENDS_OPS_SEARCHES_H_
#define EMBER_FRONTENDS_OPS_SEARCHES_H_

#include <string_view>

#include "frontends/ops/tensor.h"

namespace ember::ops {

// Returns the index of the extreme element along an axis, i64; the axis is
// removed. `mode`: maximum or minimum. Of equal elements, and of NaNs, the
// index is that of the first one, or of the last one if `last` is true. bool is
// ordered: false is smaller than true.
Tensor PlaceOfExtreme(Tensor x, int axis, std::string_view mode,
                      bool last = false);

// Makes the builder fail, or the program check, that an axis has elements.
// `operation` says in the message what needs them: "arg search".
void RequireElements(const Tensor& x, int axis, std::string_view operation);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_SEARCHES_H_
