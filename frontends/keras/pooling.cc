// Imports pooling over windows and over whole images.
#include "frontends/ops/pooling.h"

#include <functional>
#include <optional>
#include <vector>

#include "frontends/keras/layer_table.h"
#include "frontends/keras/spatial.h"

namespace ember::keras {
namespace {

void Pool(LayerContext& c,
          const std::function<Tensor(Tensor, const ops::Window&)>& pool) {
  const int spatial = SpatialRank(c);
  if (!c.CheckRank(0, spatial + 2, spatial + 2)) return;
  const Tensor x = AsChannelsLast(c, c.Input(0));
  const auto count = static_cast<size_t>(spatial);
  // Keras 1 called this entry "pool_length" in one-dimensional layers. That
  // name is not supported.
  const auto window = MakeWindow(c, c.config().Integers("pool_size", count, 2),
                                 "strides", 0, SpatialDims(x));
  if (!window || !c.ok()) return;
  c.SetOutput(FromChannelsLast(c, pool(x, *window)));
}

void PoolAll(
    LayerContext& c,
    const std::function<Tensor(Tensor, std::vector<int64_t>, bool)>& pool) {
  const int spatial = SpatialRank(c);
  if (!c.CheckRank(0, spatial + 2, spatial + 2)) return;
  std::vector<int64_t> axes;
  const int first = c.is_channels_first() ? 2 : 1;
  for (int i = 0; i < spatial; ++i) axes.push_back(first + i);
  c.SetOutput(pool(c.Input(0), axes, c.config().Flag("keepdims", false)));
}

}  // namespace

void ImportMaxPooling(LayerContext& c) {
  Pool(c, [](Tensor x, const ops::Window& window) {
    return ops::ReduceWindow(x, "maximum", window, /*first=*/1);
  });
}

void ImportAveragePooling(LayerContext& c) {
  Pool(c, [](Tensor x, const ops::Window& window) {
    return ops::AveragePool(x, window, /*first=*/1, /*include_pad=*/false);
  });
}

void ImportGlobalMaxPooling(LayerContext& c) {
  PoolAll(c, [](Tensor x, std::vector<int64_t> axes, bool keep) {
    return Reduce(x, "maximum", std::move(axes), keep);
  });
}

void ImportGlobalAveragePooling(LayerContext& c) {
  if (const Tensor mask = c.Mask(0); mask && SpatialRank(c) == 1) {
    if (!c.CheckRank(0, 3, 3)) return;
    const int steps = c.is_channels_first() ? 2 : 1;
    const Tensor x = c.Input(0);
    const Tensor weight =
        Unsqueeze(Cast(mask, x.dtype()), {c.is_channels_first() ? 1 : 2});
    const bool keep = c.config().Flag("keepdims", false);
    return c.SetOutput(Reduce(x * weight, "sum", {steps}, keep) /
                       Reduce(weight, "sum", {steps}, keep));
  }
  PoolAll(c, [](Tensor x, std::vector<int64_t> axes, bool keep) {
    return Mean(x, std::move(axes), keep);
  });
}

}  // namespace ember::keras
