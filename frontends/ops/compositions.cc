#include "frontends/ops/compositions.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "compiler/graph/builder/control_flow.h"
#include "frontends/ops/dims.h"

namespace ember::ops {
namespace {

// Scans an axis whose extent is open, in a loop of doubling steps: after step k
// each result combines the last 2^k elements up to its own.
Tensor OpenScan(Tensor x, int axis, Opcode opcode) {
  graph::GraphBuilder& builder = x.builder();
  const Dim extent = x.dim(axis);
  const int rank = x.rank();
  const Tensor one(&builder, builder.Scalar(1, DType::kI64));
  graph::LoopRequest request;
  request.carried = {x.value(), one.value()};
  request.conditional = true;
  request.condition = Less(one, DimScalar(builder, extent)).value();
  const auto body = [&](graph::Region& region,
                        const graph::LoopInputs& in) -> graph::LoopOutputs {
    graph::GraphBuilder& inside = region.builder();
    const Tensor sums(&inside, in.carried[0]);
    const Tensor shift(&inside, in.carried[1]);
    const Tensor place = IotaVector(inside, extent, DType::kI64);
    const Tensor before = Gather(sums, Maximum(place - shift, 0), axis);
    const Tensor next = Select(AlongAxis(LessEqual(shift, place), axis, rank),
                               Binary(opcode, sums, before), sums);
    const Tensor doubled = shift * 2.0;
    return {.proceed = Less(doubled, DimScalar(inside, extent)).value(),
            .carried = {next.value(), doubled.value()}};
  };
  const std::vector<graph::Value*> results = BuildLoop(builder, request, body);
  return {&builder, results.empty() ? nullptr : results[0]};
}

}  // namespace

Tensor LogSoftmax(Tensor x, int axis) {
  const DType type = x.dtype();
  Tensor wide = Cast(x, ComputeType(type));
  Tensor shifted = wide - Reduce(wide, "maximum", {axis}, true);
  return Cast(shifted - Log(Reduce(Exp(shifted), "sum", {axis}, true)), type);
}

Tensor NormalizeIndices(Tensor indices, const Dim& extent) {
  graph::GraphBuilder& builder = indices.builder();
  Tensor wide = Cast(indices, DType::kI64);
  if (!IsSigned(indices.dtype())) return wide;
  if (!builder.status().ok()) return wide;
  if (std::optional<Shape> known = builder.IntegerContents(wide.value())) {
    if (std::all_of(known->begin(), known->end(), IsNonNegative)) return wide;
    bool constant = true;
    for (Dim& index : *known) {
      constant = constant && index.is_constant();
      if (index.is_constant() && index.constant() < 0) index = index + extent;
    }
    if (constant) {
      Tensor values(&builder, builder.ShapeValue(*known));
      return Reshape(values, wide.shape());
    }
  }
  return Select(Less(wide, 0), wide + DimScalar(builder, extent), wide);
}

Tensor DimScalar(graph::GraphBuilder& builder, const Dim& dim) {
  return {&builder, builder.DimValue(dim)};
}

Tensor WithDim(Tensor x, int axis, const Dim& extent) {
  if (!x.HasDim(axis) || x.dim(axis) == extent) return x;
  if (x.dim(axis).is_constant() && extent.is_constant()) return x;
  Shape shape = x.shape();
  shape[static_cast<size_t>(axis < 0 ? axis + x.rank() : axis)] = extent;
  return Apply("assume", {x}, {{"shape", shape}}).Marked(x.carried_type());
}

Tensor RepeatEach(Tensor x, int axis, const Dim& times) {
  if (!x.HasDim(axis)) return x;
  if (times == Dim(1)) return x;
  Shape repeated = x.shape();
  repeated.insert(repeated.begin() + axis + 1, times);
  Shape merged = x.shape();
  merged[axis] = merged[axis] * times;
  return Reshape(Broadcast(Unsqueeze(x, {axis + 1}), repeated), merged);
}

Tensor Reverse(Tensor x, int axis) {
  return SliceAxis(x, axis, x.dim(axis) - Dim(1), x.dim(axis), -1);
}

Tensor InclusiveScan(Tensor x, int axis, Opcode opcode, double identity) {
  if (!x.HasDim(axis)) return x;
  const std::optional<int64_t> extent = x.dim(axis).AsConstant();
  if (!extent) return OpenScan(x, axis, opcode);
  const int rank = x.rank();
  for (int64_t shift = 1; shift < *extent && shift < int64_t{1} << 40;
       shift *= 2) {
    Shape low(rank, Dim(0));
    Shape high(rank, Dim(0));
    low[axis] = Dim(shift);
    high[axis] = Dim(-shift);
    x = Binary(opcode, x, Pad(x, low, high, "constant", x.Like(identity)));
  }
  return x;
}

}  // namespace ember::ops
