// com.microsoft: operators that move, gather and make elements, and small
// numeric operators that belong to no other family.
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/onnx/contrib/contrib.h"
#include "frontends/onnx/contrib/families.h"
#include "frontends/onnx/operators/attention.h"
#include "frontends/ops/compositions.h"
#include "frontends/ops/dims.h"

namespace ember::onnx {
namespace {

void ImportExpandDims(NodeContext& c) {
  const auto axis = c.ConstantIntegers(1, "axis");
  if (!axis) return;
  if (axis->size() != 1) return c.FailInvalid("axis: expected one number");
  const int position = c.Axis(axis->front(), c.Input(0).rank() + 1);
  if (c.ok()) c.SetOutput(0, Unsqueeze(c.Input(0), {position}));
}

void ImportTorchEmbedding(NodeContext& c) {
  if (!c.CheckRank(0, 1)) return;
  Tensor ids = NormalizeIndices(c.Input(1), c.Input(0).dim(0));
  c.SetOutput(0, Gather(c.Input(0), ids, 0));
}

// Imports UnfoldTensor, which returns all slices of `size` elements of a dim,
// `step` elements apart. The elements of a slice become a new last dim.
void ImportUnfoldTensor(NodeContext& c) {
  if (!c.CheckRank(0, 1)) return;
  Tensor x = c.Input(0);
  const int axis = c.Axis(c.Integer("dim", -1), x.rank());
  const int64_t size = PositiveAttribute(c, "size");
  const int64_t step = c.Integer("step", 1);
  if (step < 1) return c.FailInvalid("attribute 'step': expected at least 1");
  if (!c.ok()) return;
  const Dim count = FloorDivide(x.dim(axis) - Dim(size), Dim(step)) + Dim(1);
  Tensor start =
      IotaVector(c.builder(), count, DType::kI64) * static_cast<double>(step);
  Tensor offset = IotaVector(c.builder(), Dim(size), DType::kI64);
  Tensor y = Gather(x, Unsqueeze(start, {1}) + offset, axis);
  // The gather has inserted a dim for the elements of a slice behind `axis`.
  // UnfoldTensor returns it as the last dim.
  std::vector<int64_t> permutation;
  for (int i = 0; i < y.rank(); ++i) {
    if (i != axis + 1) permutation.push_back(i);
  }
  permutation.push_back(axis + 1);
  c.SetOutput(0, Transpose(y, permutation));
}

// Multiplies complex numbers a and b, which are pairs of real and imaginary
// parts in the last dim. A `sign` of -1 conjugates b; 1 does not.
void ImportComplexProduct(NodeContext& c, double sign) {
  if (!c.CheckRank(0, 1) || !c.CheckRank(1, 1)) return;
  auto part = [](Tensor x, int index) {
    return SliceAxis(x, x.rank() - 1, Dim(index), Dim(1));
  };
  Tensor a_real = part(c.Input(0), 0);
  Tensor a_imaginary = part(c.Input(0), 1);
  Tensor b_real = part(c.Input(1), 0);
  Tensor b_imaginary = part(c.Input(1), 1) * sign;
  Tensor real = a_real * b_real - a_imaginary * b_imaginary;
  Tensor imaginary = a_real * b_imaginary + a_imaginary * b_real;
  c.SetOutput(0, Concat({real, imaginary}, real.rank() - 1));
}

void ImportComplexMul(NodeContext& c) { ImportComplexProduct(c, 1); }
void ImportComplexMulConj(NodeContext& c) { ImportComplexProduct(c, -1); }

// Imports CDist: the distances of each row of a from each row of b.
void ImportCDist(NodeContext& c) {
  if (!c.CheckRank(0, 2, 2) || !c.CheckRank(1, 2, 2)) return;
  const std::string metric = c.String("metric", "sqeuclidean");
  Tensor difference = Unsqueeze(c.Input(0), {1}) - Unsqueeze(c.Input(1), {0});
  Tensor magnitude = Absolute(difference);
  if (metric == "cityblock")
    return c.SetOutput(0, Reduce(magnitude, "sum", {2}, false));
  if (metric == "chebyshev")
    return c.SetOutput(0, Reduce(magnitude, "maximum", {2}, false));
  Tensor square = Reduce(difference * difference, "sum", {2}, false);
  if (metric == "sqeuclidean") return c.SetOutput(0, square);
  if (metric == "euclidean") return c.SetOutput(0, Sqrt(square));
  c.FailUnsupported("attribute 'metric': '" + metric + "' is not supported");
}

// Imports IsAllFinite: true if no element of any operand is infinite or NaN.
// With isinf_only only infinities count, with isnan_only only NaNs.
void ImportIsAllFinite(NodeContext& c) {
  const bool only_infinity = c.Integer("isinf_only", 0) != 0;
  const bool only_nan = c.Integer("isnan_only", 0) != 0;
  if (only_infinity && only_nan) {
    return c.FailInvalid(
        "attributes 'isinf_only' and 'isnan_only': expected at most one of "
        "them "
        "to be set, found both");
  }
  Tensor result;
  for (const Tensor& x : c.inputs()) {
    if (!x) continue;
    Tensor bad;
    if (!only_infinity) bad = NotEqual(x, x);
    if (!only_nan) bad = bad ? Or(bad, IsInfinite(x)) : IsInfinite(x);
    std::vector<int64_t> axes;
    for (int i = 0; i < x.rank(); ++i) axes.push_back(i);
    Tensor any = Reduce(Cast(bad, DType::kI32), "maximum", axes, false);
    result = result ? Maximum(result, any) : any;
  }
  if (!result) return c.FailInvalid("expected operands");
  c.SetOutput(0, Equal(result, 0));
}

// Returns the bucket of a key's distance from a query. Small distances have a
// bucket each; larger ones share logarithmic buckets up to max_distance.
Tensor RelativeBucket(NodeContext& c, Tensor relative, int64_t buckets,
                      bool is_bidirectional) {
  const double max_distance =
      static_cast<double>(PositiveAttribute(c, "max_distance"));
  if (is_bidirectional) buckets /= 2;
  Tensor offset = is_bidirectional
                      ? Select(Less(0, relative),
                               relative.Like(static_cast<double>(buckets)),
                               relative.Like(0))
                      : relative.Like(0);
  Tensor distance =
      is_bidirectional ? Absolute(relative) : Maximum(-relative, 0);
  const double exact = static_cast<double>(buckets / 2);
  Tensor far = Log(Cast(Maximum(distance, 1), DType::kF32) / exact) /
               std::log(max_distance / exact) *
               static_cast<double>(buckets - buckets / 2);
  Tensor bucket =
      Minimum(Cast(far, DType::kI64) + exact, static_cast<double>(buckets - 1));
  return offset + Select(Less(distance, exact), distance, bucket);
}

void ImportRelativePositionBias(NodeContext& c) {
  if (!c.CheckRank(0, 2, 2)) return;
  const auto queries = c.Sizes(1, "query length");
  const auto keys = c.Sizes(2, "key length");
  if (!queries || !keys) return;
  if (queries->size() != 1 || keys->size() != 1)
    return c.FailInvalid("lengths: expected scalars");
  const Dim& buckets = c.Input(0).dim(0);
  if (!buckets.is_constant() || buckets.constant() < 4)
    return c.FailUnsupported("expected a constant number of buckets");
  Tensor query =
      AlongAxis(IotaVector(c.builder(), queries->front(), DType::kI64), 0, 2);
  Tensor key =
      AlongAxis(IotaVector(c.builder(), keys->front(), DType::kI64), 1, 2);
  // If there are fewer queries than keys, the queries belong to the last
  // positions, so the number of keys before the first query is added to their
  // positions.
  Tensor last = DimScalar(c.builder(), keys->front() - queries->front());
  Tensor bucket = RelativeBucket(c, key - (query + last), buckets.constant(),
                                 c.Integer("is_bidirectional", 0) != 0);
  if (!c.ok()) return;
  Tensor rows = Gather(c.Input(0), bucket, 0);
  c.SetOutput(0, Unsqueeze(Transpose(rows, {2, 0, 1}), {0}));
}

Tensor RotateLeft(Tensor x, int bits) {
  return Binary(Opcode::kOr, Binary(Opcode::kShiftLeft, x, x.Like(bits)),
                Binary(Opcode::kShiftRight, x, x.Like(32 - bits)));
}

Tensor Xor(Tensor a, Tensor b) { return Binary(Opcode::kXor, a, b); }

// Returns the 32-bit words of each element, the low word first.
std::vector<Tensor> WordsOf(NodeContext& c, Tensor x) {
  const bool is_wide = DTypeByteSize(x.dtype()) == 8;
  const DType type = is_wide ? DType::kU64 : DType::kU32;
  if (DTypeByteSize(x.dtype()) < 4) {
    c.FailInvalid("expected elements of 32 or 64 bits");
    return {};
  }
  if (x.dtype() != type) x = Apply("bitcast", {x}, {{"dtype", type}});
  if (!is_wide) return {x};
  Tensor low = Binary(Opcode::kAnd, x, x.Like(4294967295.0));
  Tensor high = Binary(Opcode::kShiftRight, x, x.Like(32));
  return {Cast(low, DType::kU32), Cast(high, DType::kU32)};
}

// Imports MurmurHash3: MurmurHash3_x86_32 of the bytes of each element.
void ImportMurmurHash3(NodeContext& c) {
  const std::vector<Tensor> words = WordsOf(c, c.Input(0));
  if (!c.ok()) return;
  const auto seed = static_cast<uint32_t>(c.Integer("seed", 0));
  Tensor hash = c.Scalar(seed, DType::kU32);
  for (Tensor word : words) {
    word = RotateLeft(word * 3432918353.0, 15) * 461845907.0;
    hash = RotateLeft(Xor(hash, word), 13) * 5.0 + 3864292196.0;
  }
  hash = Xor(hash, hash.Like(4.0 * static_cast<double>(words.size())));
  for (const auto& [shift, factor] :
       {std::pair(16, 2246822507.0), std::pair(13, 3266489909.0)}) {
    hash = Xor(hash, Binary(Opcode::kShiftRight, hash, hash.Like(shift)));
    hash = hash * factor;
  }
  hash = Xor(hash, Binary(Opcode::kShiftRight, hash, hash.Like(16)));
  if (c.Integer("positive", 1) == 0)
    hash = Apply("bitcast", {hash}, {{"dtype", DType::kI32}});
  c.SetOutput(0, hash);
}

// Imports GatedRelativePositionBias: a bias by position, scaled by gates that
// are computed from the queries.
void ImportGatedRelativePositionBias(NodeContext& c) {
  if (!c.CheckRank(0, 3, 3) || !c.CheckRank(3, 2, 2)) return;
  if (c.Input(6))
    return c.FailUnsupported("packed tokens (input 6) are not supported");
  const int64_t heads = PositiveAttribute(c, "num_heads");
  const DType type = c.Input(0).dtype();
  auto wide = [&](int i) {
    return Cast(c.Input(i), ComputeType(c.Input(i).dtype()));
  };
  Tensor query = SplitHeads(wide(0) + wide(1), heads);
  Tensor gates = MatMul(query, wide(3)) + wide(4);
  const Dim half = FloorDivide(gates.dim(3), Dim(2));
  auto gate = [&](const Dim& start) {
    return Sigmoid(Reduce(SliceAxis(gates, 3, start, half), "sum", {3}, true));
  };
  Tensor scale = gate(Dim(0)) * (gate(half) * wide(5) - 1.0) + 2.0;
  c.SetOutput(0, Cast(scale * wide(2), type));
}

void ImportSample(NodeContext& c) { c.SetOutput(0, c.Input(0)); }

constexpr OperatorRow kRows[] = {
    {"CDist", 1, 2, 2, ImportCDist, kMicrosoft},
    {"ComplexMul", 1, 2, 2, ImportComplexMul, kMicrosoft},
    {"ComplexMulConj", 1, 2, 2, ImportComplexMulConj, kMicrosoft},
    {"ExpandDims", 1, 2, 2, ImportExpandDims, kMicrosoft},
    {"IsAllFinite", 1, 1, kVariadic, ImportIsAllFinite, kMicrosoft},
    {"GatedRelativePositionBias", 1, 6, 7, ImportGatedRelativePositionBias,
     kMicrosoft},
    {"MurmurHash3", 1, 1, 1, ImportMurmurHash3, kMicrosoft},
    {"SampleOp", 1, 1, 1, ImportSample, kMicrosoft},
    {"RelativePositionBias", 1, 3, 3, ImportRelativePositionBias, kMicrosoft},
    {"TorchEmbedding", 1, 2, 4, ImportTorchEmbedding, kMicrosoft},
    {"UnfoldTensor", 1, 1, 1, ImportUnfoldTensor, kMicrosoft},
};

}  // namespace

std::span<const OperatorRow> ContribMovementOperators() { return kRows; }

}  // namespace ember::onnx
