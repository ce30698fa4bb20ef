// Imports pooling of images [N, H, W, C].
#include "frontends/ops/pooling.h"

#include <optional>

#include "frontends/ops/windows.h"
#include "frontends/tflite/activation.h"
#include "frontends/tflite/operator_table.h"
#include "frontends/tflite/quantized.h"

namespace ember::tflite {
namespace {

using ops::Window;

std::optional<Window> ReadWindow(OperatorContext& c) {
  if (!c.CheckRank(0, 4, 4)) return std::nullopt;
  const auto& o = c.Options<schema::Pool2DOptions>();
  if (!c.CheckPositive("filter_height", o.filter_height()) ||
      !c.CheckPositive("filter_width", o.filter_width()) ||
      !c.CheckPositive("stride_h", o.stride_h()) ||
      !c.CheckPositive("stride_w", o.stride_w()))
    return std::nullopt;
  Window window = ops::WindowOf({o.filter_height(), o.filter_width()});
  window.strides = {o.stride_h(), o.stride_w()};
  const Tensor x = c.Input(0);
  if (o.padding() == schema::Padding::SAME)
    ops::PadSame({x.dim(1), x.dim(2)}, /*upper=*/true, window);
  return window;
}

schema::ActivationFunctionType ActivationOf(OperatorContext& c) {
  return c.Options<schema::Pool2DOptions>().fused_activation_function();
}

// Returns the number of the input's elements in each window, i32 [1, H, W, 1].
Tensor CountOf(OperatorContext& c, Tensor x, const Window& window) {
  Tensor count;
  for (int i = 0; i < 2; ++i) {
    const Tensor along =
        AlongAxis(ops::CountAlong(c.builder(), x.dim(i + 1), window, i,
                                  /*include_pad=*/false),
                  i + 1, 4);
    count = count ? count * along : along;
  }
  return Cast(count, DType::kI32);
}

bool CheckSameScale(OperatorContext& c) {
  if (!CheckPerTensor(c, 1)) return false;
  if (*c.InputQuantization(0) == *c.OutputQuantization(0)) return true;
  c.FailUnsupported("expected one quantization of input and result");
  return false;
}

}  // namespace

void ImportAveragePool(OperatorContext& c) {
  const std::optional<Window> window = ReadWindow(c);
  if (!window) return;
  const Tensor x = c.Input(0);
  if (!c.AnyQuantized()) {
    const Tensor y =
        ops::AveragePool(x, *window, /*first=*/1, /*include_pad=*/false);
    return c.SetOutput(0, Activated(c, y, ActivationOf(c)));
  }
  if (!CheckSameScale(c)) return;
  // Computes the mean of the stored integers, with halves rounded away from
  // zero.
  const Tensor sum = ops::ReduceWindow(Cast(x, DType::kI32), "sum", *window, 1);
  const Tensor count = CountOf(c, x, *window);
  const Tensor half = count / 2.0;
  const Tensor mean = Select(Less(0, sum), sum + half, sum - half) / count;
  const double zero = c.StoredZero(0);
  SetStored(c, zero == 0 ? mean : mean - zero, ActivationOf(c));
}

void ImportMaxPool(OperatorContext& c) {
  const std::optional<Window> window = ReadWindow(c);
  if (!window) return;
  const Tensor y = ops::ReduceWindow(c.Input(0), "maximum", *window, 1);
  if (!c.AnyQuantized())
    return c.SetOutput(0, Activated(c, y, ActivationOf(c)));
  if (!CheckSameScale(c)) return;
  if (ActivationOf(c) == schema::ActivationFunctionType::NONE)
    return c.SetOutput(0, y);
  SetStored(c, CenteredStored(y, *c.InputQuantization(0)), ActivationOf(c));
}

void ImportL2Pool(OperatorContext& c) {
  const std::optional<Window> window = ReadWindow(c);
  if (!window) return;
  const Tensor x = c.Input(0);
  const Tensor mean =
      ops::AveragePool(x * x, *window, /*first=*/1, /*include_pad=*/false);
  c.SetOutput(0, Activated(c, Sqrt(mean), ActivationOf(c)));
}

}  // namespace ember::tflite
