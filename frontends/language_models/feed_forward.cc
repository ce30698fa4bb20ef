#include "frontends/language_models/feed_forward.h"

#include "frontends/language_models/experts.h"
#include "frontends/ops/functions.h"

namespace ember::language_models {
namespace {

using ops::SliceAxis;

// Returns the number of elements between the two products: the columns of
// ffn_down; kAnyExtent after an error.
int64_t InnerSize(const LayerContext& c) {
  const Weight down = c.tensors.Required(c.Name("ffn_down.weight"),
                                         {c.options.width, kAnyExtent});
  if (!c.ok()) return kAnyExtent;
  return down.dim(1).AsConstant().value_or(kAnyExtent);
}

}  // namespace

Tensor FeedForward(const LayerContext& c, Tensor x) {
  if (c.tensors.Has(c.Name("ffn_gate_inp.weight"))) return Experts(c, x);
  const int64_t width = c.options.width;
  const int64_t inner = InnerSize(c);
  if (!c.ok()) return x;
  const std::string up = c.Name("ffn_up.weight");
  Tensor h;
  if (c.tensors.Has(c.Name("ffn_gate.weight"))) {
    h = c.Activate(c.Linear(x, "ffn_gate", inner, width)) *
        c.Linear(x, "ffn_up", inner, width);
  } else if (c.tensors.HasRank(up, 2) &&
             c.tensors.Required(up, {kAnyExtent, width}).dim(0) ==
                 Dim(2 * inner)) {
    Tensor both = c.Linear(x, "ffn_up", 2 * inner, width);
    h = c.Activate(SliceAxis(both, 2, Dim(0), Dim(inner))) *
        SliceAxis(both, 2, Dim(inner), Dim(inner));
  } else {
    h = c.Activate(c.Linear(x, "ffn_up", inner, width));
  }
  return c.Linear(h, "ffn_down", width, inner);
}

}  // namespace ember::language_models
