// Imports operators that pad tensors, and sequences of several lengths.

#include "frontends/torchscript/operator_table.h"
#include "frontends/torchscript/promotion.h"

namespace ember::torchscript {
namespace {

// Pads x. `pads` has two numbers per axis, low and high, beginning with the
// last axis.
Tensor PadAxes(Call& c, const Tensor& x, const Shape& pads,
               std::string_view mode, double value) {
  if (!c.ok()) return x;
  if (pads.size() % 2 != 0 || pads.size() / 2 > static_cast<size_t>(x.rank())) {
    c.FailInvalid("pad: expected pairs for at most " +
                  std::to_string(x.rank()) + " axes, found " +
                  std::to_string(pads.size()) + " numbers");
    return x;
  }
  Shape low(static_cast<size_t>(x.rank()), Dim(0));
  Shape high = low;
  for (size_t i = 0; i < pads.size(); i += 2) {
    const size_t axis = low.size() - 1 - i / 2;
    low[axis] = pads[i];
    high[axis] = pads[i + 1];
  }
  // Other modes than "constant" accept no negative pads, so negative pads are
  // applied first, by slicing x.
  Tensor cut = x;
  if (mode != "constant") {
    for (size_t axis = 0; axis < low.size(); ++axis) {
      for (Dim* pad : {&low[axis], &high[axis]}) {
        if (!pad->is_constant() || pad->constant() >= 0) continue;
        const Dim size = cut.dim(static_cast<int>(axis)) + *pad;
        cut = ops::SliceAxis(cut, static_cast<int>(axis),
                             pad == &low[axis] ? Dim(0) - *pad : Dim(0), size);
        *pad = Dim(0);
      }
    }
  }
  return ops::Pad(cut, low, high, mode,
                  mode == "constant"
                      ? c.Number(Wrapped(value, x.dtype()), x.dtype())
                      : Tensor(&c.builder(), nullptr));
}
std::string GraphModeOf(Call& c, const std::string& mode) {
  if (mode == "constant" || mode == "reflect") return mode;
  if (mode == "replicate") return "edge";
  if (mode == "circular") return "wrap";
  c.FailInvalid(
      "mode: expected constant, reflect, replicate or circular, "
      "found '" +
      mode + "'");
  return "constant";
}
Tensor PadByMode(Call& c) {
  const Tensor x = c.tensor("self");
  const std::string mode = GraphModeOf(c, c.text("mode"));
  const double value = c.has("value") ? c.number("value") : 0;
  return PadAxes(c, x, c.dims("pad"), mode, value);
}
Tensor ConstantPad(Call& c) {
  const Tensor x = c.tensor("self");
  return PadAxes(c, x, c.dims("pad"), "constant", c.number("value"));
}
Tensor ReflectionPad(Call& c) {
  const Tensor x = c.tensor("self");
  return PadAxes(c, x, c.dims("padding"), "reflect", 0);
}
Tensor ReplicationPad(Call& c) {
  const Tensor x = c.tensor("self");
  return PadAxes(c, x, c.dims("padding"), "edge", 0);
}
// Imports pad_sequence: joins sequences of several lengths into one tensor, in
// which the shorter ones are padded at their end.
Tensor PadSequence(Call& c) {
  std::vector<Tensor> parts = InOneType(c, c.tensors("sequences"));
  const double fill = c.number("padding_value");
  if (!c.ok() || parts.empty()) {
    c.FailInvalid("expected a list of tensors that is not empty");
    return {};
  }
  Dim longest(0);
  for (const Tensor& part : parts) {
    if (!c.CheckRank("sequences", part, 1)) return part;
    longest = LargerOf(longest, part.dim(0));
  }
  const int axis = c.flag("batch_first") ? 0 : 1;
  for (Tensor& part : parts) {
    Shape high(part.shape().size(), Dim(0));
    high[0] = longest - part.dim(0);
    part = ops::Unsqueeze(ops::Pad(part, Shape(high.size(), Dim(0)), high,
                                   "constant", part.Like(fill)),
                          {axis});
  }
  return Concat(parts, axis);
}

constexpr OperatorRow kRows[] = {
    {"pad_sequence(Tensor[] sequences, bool batch_first=False, "
     "float padding_value=0)",
     PadSequence},
    {"pad(Tensor self, int[] pad, str mode='constant', float? value=None)",
     PadByMode},
    {"constant_pad_nd(Tensor self, int[] pad, Scalar value=0)", ConstantPad},
    {"reflection_pad1d(Tensor self, int[] padding)", ReflectionPad},
    {"reflection_pad2d(Tensor self, int[] padding)", ReflectionPad},
    {"reflection_pad3d(Tensor self, int[] padding)", ReflectionPad},
    {"replication_pad1d(Tensor self, int[] padding)", ReplicationPad},
    {"replication_pad2d(Tensor self, int[] padding)", ReplicationPad},
    {"replication_pad3d(Tensor self, int[] padding)", ReplicationPad},
};

}  // namespace

std::span<const OperatorRow> PaddingRows() { return kRows; }

}  // namespace ember::torchscript
