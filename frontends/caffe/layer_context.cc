#include "frontends/caffe/layer_context.h"

#include <cmath>

#include "base/checked_math.h"
#include "base/one_line.h"
#include "frontends/frontend.h"

namespace ember::caffe {
namespace {

// Largest extent of a kernel of bilinear interpolation. It is above any
// model's, and still small.
constexpr int64_t kMaxBilinearKernel = 1024;

std::string DimsText(const std::vector<int64_t>& dims) {
  return graph::ShapeToString(ShapeOf(dims));
}

}  // namespace

Shape ShapeOf(const std::vector<int64_t>& dims) {
  return {dims.begin(), dims.end()};
}

Dim ElementCount(const Shape& shape, size_t first, size_t last) {
  Dim count(1);
  for (size_t i = first; i < last && i < shape.size(); ++i)
    count = count * shape[i];
  return count;
}

// Returns the weights that a filler makes: a constant, or the kernel of
// bilinear interpolation, which is the same for each pair of channels.
Tensor LayerContext::Filled(const FillerParameter& filler,
                            const std::vector<int64_t>& dims) {
  if (filler.type() == "constant")
    return Broadcast(Scalar(filler.value()), ShapeOf(dims));
  const size_t rank = dims.size();
  if (rank < 2 || dims[rank - 1] != dims[rank - 2] || dims[rank - 1] < 1 ||
      dims[rank - 1] > kMaxBilinearKernel) {
    FailInvalid("bilinear filler: expected a square kernel of at most " +
                std::to_string(kMaxBilinearKernel) + ", found weights " +
                DimsText(dims));
    return Scalar(0);
  }
  const int64_t size = dims[rank - 1];
  const double half = std::ceil(static_cast<double>(size) / 2);
  const double center = (2 * half - 1 - std::fmod(half, 2)) / (2 * half);
  std::vector<float> line;
  for (int64_t i = 0; i < size; ++i) {
    line.push_back(static_cast<float>(
        1 - std::abs(static_cast<double>(i) / half - center)));
  }
  const Tensor values = Vector(line);
  const int r = static_cast<int>(rank);
  return Broadcast(
      ops::AlongAxis(values, r - 2, r) * ops::AlongAxis(values, r - 1, r),
      ShapeOf(dims));
}

Tensor LayerContext::Weight(int index, const std::vector<int64_t>& dims,
                            const FillerParameter* filler) {
  if (!ok()) return Scalar(0);
  if (blobs_ == nullptr && filler != nullptr &&
      (filler->type() == "constant" || filler->type() == "bilinear"))
    return Filled(*filler, dims);
  if (index >= blob_count()) {
    FailInvalid("expected weights " + std::to_string(index) + " of shape " +
                DimsText(dims) + ", found " + std::to_string(blob_count()) +
                " blobs of this layer");
    return Scalar(0);
  }
  const Blob& blob = (*blobs_)[static_cast<size_t>(index)];
  std::optional<int64_t> count = 1;
  for (const int64_t dim : dims)
    if (count) count = CheckedMultiply(*count, dim);
  if (count != blob.count()) {
    FailInvalid("weights " + std::to_string(index) + ": expected shape " +
                DimsText(dims) + ", found " + DimsText(blob.dims()));
    return Scalar(0);
  }
  return Wrap(builder().Constant(DType::kF32, dims, blob.Data()));
}

Tensor LayerContext::StateInput(std::string_view name, const Shape& shape) {
  State state;
  state.name = layer_.name() + "_" + std::string(name);
  state.before = Wrap(builder().Input(state.name, {DType::kF32, shape},
                                      std::string(frontends::kStateType)));
  state.after = state.before;
  states_.push_back(state);
  return state.before;
}

}  // namespace ember::caffe
