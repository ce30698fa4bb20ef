// Imports layers that move elements: shapes, cropping, padding, repetition.
#include <string>
#include <utility>
#include <vector>

#include "base/one_line.h"
#include "frontends/keras/layer_table.h"
#include "frontends/keras/spatial.h"
#include "frontends/ops/convolution.h"
#include "frontends/ops/resize.h"

namespace ember::keras {
namespace {

struct Ends {
  int64_t before = 0, after = 0;
};

// Returns the amounts before and after each spatial dim. The config entry has
// one number for all dims, one number per dim, or a pair per dim.
std::vector<Ends> EndsOf(LayerContext& c, std::string_view key, size_t count,
                         int64_t otherwise) {
  std::vector<Ends> ends(count, {otherwise, otherwise});
  const Config value = c.config().Entry(key);
  if (value.json() == nullptr) return ends;
  if (const auto one = value.AsInteger()) {
    ends.assign(count, {*one, *one});
  } else {
    std::vector<Config> items = value.Items();
    // If there is one spatial dim, its pair may be written without a list
    // around it.
    if (count == 1 && items.size() == 2 && items[0].AsInteger()) {
      ends[0] = {items[0].AsInteger().value_or(0),
                 items[1].AsInteger().value_or(0)};
    } else if (items.size() != count) {
      c.config().Fail(key, std::to_string(count) + " pairs of integers");
    } else {
      for (size_t i = 0; i < count; ++i) {
        const std::vector<Config> pair = items[i].Items();
        if (const auto both = items[i].AsInteger()) {
          ends[i] = {*both, *both};
        } else if (pair.size() == 2 && pair[0].AsInteger() &&
                   pair[1].AsInteger()) {
          ends[i] = {*pair[0].AsInteger(), *pair[1].AsInteger()};
        } else {
          c.config().Fail(key, "pairs of integers");
        }
      }
    }
  }
  for (const Ends& end : ends) {
    if (end.before >= 0 && end.before <= ops::kMaxWindow && end.after >= 0 &&
        end.after <= ops::kMaxWindow)
      continue;
    c.FailInvalid(std::string(key) + ": expected values in [0, " +
                  std::to_string(ops::kMaxWindow) + "], found " +
                  std::to_string(end.before) + " and " +
                  std::to_string(end.after));
    break;
  }
  return ends;
}

int FirstSpatial(LayerContext& c) { return c.is_channels_first() ? 2 : 1; }

}  // namespace

// Imports Reshape. The shape has the dims after the batch; one may be -1.
void ImportReshape(LayerContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const Tensor x = c.Input(0);
  Shape shape{x.dim(0)}, rest;
  int open = -1;
  for (const int64_t dim : c.config().IntegerList("target_shape")) {
    if (dim == -1 && open < 0) {
      open = static_cast<int>(shape.size());
      shape.push_back(Dim(1));
      continue;
    }
    if (dim < 0) {
      return c.FailInvalid(
          "target_shape: expected dims of 0 and more and one "
          "of -1, found " +
          std::to_string(dim));
    }
    shape.push_back(Dim(dim));
    rest.push_back(Dim(dim));
  }
  if (open >= 0) {
    Shape elements(x.shape().begin() + 1, x.shape().end());
    const auto left = ops::DivideElementCounts(elements, rest);
    if (!left) {
      return c.FailInvalid("target_shape: expected a divisor of " +
                           graph::ShapeToString(elements) + ", found " +
                           graph::ShapeToString(rest));
    }
    shape[static_cast<size_t>(open)] = *left;
  }
  c.SetOutput(Reshape(x, shape));
}

void ImportFlatten(LayerContext& c) {
  if (!c.CheckRank(0, 1)) return;
  Tensor x = c.Input(0);
  if (x.rank() == 1) return c.SetOutput(Unsqueeze(x, {1}));
  // Flatten lists an image's elements with the channels last, whatever
  // data_format says, so channels that come first are moved.
  if (c.is_channels_first() && x.rank() > 2) x = ops::ToChannelsLast(x);
  const Shape elements(x.shape().begin() + 1, x.shape().end());
  c.SetOutput(Reshape(x, {x.dim(0), graph::ElementCount(elements)}));
}

void ImportPermute(LayerContext& c) {
  if (!c.CheckRank(0, 1)) return;
  const std::vector<int64_t> dims = c.config().IntegerList("dims");
  std::vector<int64_t> order{0};
  order.insert(order.end(), dims.begin(), dims.end());
  std::vector<bool> seen(order.size());
  for (const int64_t axis : order) {
    if (static_cast<int>(order.size()) == c.Input(0).rank() && axis >= 0 &&
        axis < static_cast<int64_t>(order.size()) &&
        !seen[static_cast<size_t>(axis)]) {
      seen[static_cast<size_t>(axis)] = true;
      continue;
    }
    return c.FailInvalid("dims: expected an order of the dims 1 to " +
                         std::to_string(c.Input(0).rank() - 1));
  }
  c.SetOutput(Transpose(c.Input(0), order));
}

void ImportRepeatVector(LayerContext& c) {
  if (!c.CheckRank(0, 2, 2)) return;
  const Tensor x = c.Input(0);
  const int64_t n = c.config().Integer("n");
  if (!c.CheckPositive("n", n)) return;
  c.SetOutput(Broadcast(Unsqueeze(x, {1}), {x.dim(0), Dim(n), x.dim(1)}));
}

void ImportCropping(LayerContext& c) {
  const int spatial = SpatialRank(c);
  if (!c.CheckRank(0, spatial + 2, spatial + 2)) return;
  const std::vector<Ends> ends =
      EndsOf(c, "cropping", static_cast<size_t>(spatial), 1);
  Tensor x = c.Input(0);
  for (int i = 0; i < spatial && c.ok(); ++i) {
    const Ends& end = ends[static_cast<size_t>(i)];
    const int axis = FirstSpatial(c) + i;
    const Dim size = x.dim(axis) - Dim(end.before + end.after);
    if (size.is_constant() && size.constant() < 0) {
      return c.FailInvalid("cropping: expected at most " +
                           x.dim(axis).ToString() + " elements, found " +
                           std::to_string(end.before + end.after));
    }
    x = SliceAxis(x, axis, Dim(end.before), size);
  }
  c.SetOutput(x);
}

void ImportZeroPadding(LayerContext& c) {
  const int spatial = SpatialRank(c);
  if (!c.CheckRank(0, spatial + 2, spatial + 2)) return;
  const Tensor x = c.Input(0);
  const std::vector<Ends> ends =
      EndsOf(c, "padding", static_cast<size_t>(spatial), 1);
  Shape low(static_cast<size_t>(x.rank()), Dim(0)), high = low;
  for (int i = 0; i < spatial; ++i) {
    const auto axis = static_cast<size_t>(FirstSpatial(c) + i);
    low[axis] = Dim(ends[static_cast<size_t>(i)].before);
    high[axis] = Dim(ends[static_cast<size_t>(i)].after);
  }
  c.SetOutput(Pad(x, low, high, "constant", x.Like(0)));
}

void ImportUpSampling(LayerContext& c) {
  const int spatial = SpatialRank(c);
  if (!c.CheckRank(0, spatial + 2, spatial + 2)) return;
  const std::vector<int64_t> sizes =
      c.config().Integers("size", static_cast<size_t>(spatial), 2);
  const std::string mode = c.config().Text("interpolation", "nearest");
  Tensor x = c.Input(0);
  std::vector<ops::ResizedAxis> axes;
  for (int i = 0; i < spatial; ++i) {
    const int64_t size = sizes[static_cast<size_t>(i)];
    const int axis = FirstSpatial(c) + i;
    if (!c.CheckPositive("size", size)) return;
    if (mode == "nearest") {
      x = ops::RepeatEach(x, axis, Dim(size));
    } else {
      axes.push_back({.axis = axis,
                      .in = x.dim(axis),
                      .out = x.dim(axis) * Dim(size),
                      .scale = static_cast<double>(size),
                      .dynamic_scale = {},
                      .crop_start = {},
                      .crop_end = {}});
    }
  }
  if (mode == "nearest") return c.SetOutput(x);
  if (mode != "bilinear" && mode != "bicubic") {
    return c.FailUnsupported(
        "interpolation: expected nearest, bilinear or bicubic, found '" +
        OnOneLine(mode) + "'");
  }
  ops::ResizeSpec spec{.mode = mode == "bilinear" ? "linear" : "cubic",
                       .coordinates = "half_pixel",
                       .nearest = "floor",
                       .cubic_a = -0.5,
                       .exclude_outside = true};
  c.SetOutput(ops::ResizeAxes(spec, axes, x));
}

}  // namespace ember::keras
