#include "frontends/ops/complex_edges.h"

namespace ember::ops {

Tensor JoinedParts(Tensor real, Tensor imaginary) {
  const int last = real.rank();
  return Concat({Unsqueeze(real, {last}), Unsqueeze(imaginary, {last})}, last);
}

Tensor PartOf(Tensor joined, int part) {
  const int last = joined.rank() - 1;
  return Squeeze(SliceAxis(joined, last, Dim(part), Dim(1)), {last});
}

}  // namespace ember::ops
