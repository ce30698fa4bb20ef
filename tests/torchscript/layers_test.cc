// Tests layers against formulas that are written out here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/formats/deform_reference.h"
#include "tests/torchscript/one_operator.h"

namespace ember::tests {
namespace {

// Returns numbers in [-1, 1] that all differ.
Numbers Varied(std::vector<int64_t> dims, int seed) {
  Numbers numbers = F32(std::move(dims), {});
  int64_t count = 1;
  for (const int64_t dim : numbers.dims) count *= dim;
  for (int64_t i = 0; i < count; ++i)
    numbers.values.push_back(
        std::round(std::sin(static_cast<double>(i * 37 + seed * 11)) * 64) /
        64);
  return numbers;
}
double At(const Numbers& x, const std::vector<int64_t>& index) {
  int64_t at = 0;
  for (size_t i = 0; i < index.size(); ++i) at = at * x.dims[i] + index[i];
  return x.values[static_cast<size_t>(at)];
}

// Computes a convolution by its definition, one output at a time.
Numbers Conv2d(const Numbers& x, const Numbers& w, int64_t stride, int64_t pad,
               int64_t dilation, int64_t groups) {
  const int64_t reach_h = (w.dims[2] - 1) * dilation + 1;
  const int64_t reach_w = (w.dims[3] - 1) * dilation + 1;
  const int64_t rows = (x.dims[2] + 2 * pad - reach_h) / stride + 1;
  const int64_t columns = (x.dims[3] + 2 * pad - reach_w) / stride + 1;
  Numbers y = F32({x.dims[0], w.dims[0], rows, columns}, {});
  const int64_t per_group = w.dims[0] / groups;
  for (int64_t n = 0; n < x.dims[0]; ++n)
    for (int64_t o = 0; o < w.dims[0]; ++o)
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j) {
          double sum = 0;
          for (int64_t c = 0; c < w.dims[1]; ++c)
            for (int64_t a = 0; a < w.dims[2]; ++a)
              for (int64_t b = 0; b < w.dims[3]; ++b) {
                const int64_t h = i * stride - pad + a * dilation;
                const int64_t k = j * stride - pad + b * dilation;
                if (h < 0 || k < 0 || h >= x.dims[2] || k >= x.dims[3])
                  continue;
                const int64_t channel = o / per_group * w.dims[1] + c;
                sum += At(x, {n, channel, h, k}) * At(w, {o, c, a, b});
              }
          y.values.push_back(sum);
        }
  return y;
}

TEST(Layers, Convolutions) {
  const Numbers x = Varied({2, 4, 5, 6}, 1);
  const Numbers w = Varied({6, 4, 3, 2}, 2);
  ExpectTorch("torch.conv2d(x0, x1, None, [2, 2], [1, 1], [1, 1])", {x, w},
              {Conv2d(x, w, 2, 1, 1, 1)});
  ExpectTorch("torch.conv2d(x0, x1, None, 1, 1, 2)", {x, w},
              {Conv2d(x, w, 1, 1, 2, 1)});
  const Numbers grouped = Varied({6, 2, 3, 2}, 3);
  ExpectTorch("torch.conv2d(x0, x1, groups=2)", {x, grouped},
              {Conv2d(x, grouped, 1, 0, 1, 2)});
  const Numbers square = Varied({3, 4, 3, 3}, 4);
  ExpectTorch("torch.conv2d(x0, x1, None, 1, \"same\")", {x, square},
              {Conv2d(x, square, 1, 1, 1, 1)});
  ExpectTorch(
      "torch.convolution(x0, x1, None, [1, 1], [1, 1], [1, 1], False, [0, 0], "
      "1)",
      {x, square}, {Conv2d(x, square, 1, 1, 1, 1)});
  // The convolution's input is one image without a batch dim, and the
  // convolution has a bias.
  Numbers one = x;
  one.dims = {4, 5, 6};
  one.values.resize(120);
  Numbers batch = one;
  batch.dims = {1, 4, 5, 6};
  Numbers y = Conv2d(batch, square, 1, 0, 1, 1);
  y.dims.erase(y.dims.begin());
  const size_t each = y.values.size() / 3;
  for (size_t i = 0; i < y.values.size(); ++i)
    y.values[i] += static_cast<double>(i / each);
  ExpectTorch("torch.conv2d(x0, x1, torch.arange(3, dtype=6))", {one, square},
              {y});
  // A convolution with one spatial dim is compared with a two-dimensional one
  // of an image with one row.
  Numbers row = Varied({1, 2, 7}, 5);
  Numbers kernel = Varied({3, 2, 3}, 6);
  Numbers image = row;
  image.dims = {1, 2, 1, 7};
  Numbers window = kernel;
  window.dims = {3, 2, 1, 3};
  Numbers expected = Conv2d(image, window, 2, 0, 1, 1);
  expected.dims = {1, 3, 3};
  ExpectTorch("torch.conv1d(x0, x1, None, [2])", {row, kernel}, {expected});
}

TEST(Layers, TransposedConvolution) {
  // The convolution is transposed: each element spreads the kernel over the
  // result.
  const Numbers x = Varied({1, 2, 3}, 1);
  const Numbers w = Varied({2, 2, 3}, 2);
  constexpr int64_t kStride = 2;
  constexpr int64_t kPad = 1;
  constexpr int64_t kSize = (3 - 1) * kStride - 2 * kPad + 3 + 1;
  Numbers y = F32({1, 2, kSize}, std::vector<double>(2 * kSize));
  for (int64_t c = 0; c < 2; ++c)
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t o = 0; o < 2; ++o)
        for (int64_t k = 0; k < 3; ++k) {
          const int64_t at = i * kStride - kPad + k;
          if (at >= 0 && at < kSize)
            y.values[static_cast<size_t>(o * kSize + at)] +=
                At(x, {0, c, i}) * At(w, {c, o, k});
        }
  ExpectTorch("torch.conv_transpose1d(x0, x1, None, [2], [1], [1])", {x, w},
              {y});
}

TEST(Layers, Pooling) {
  const Numbers x = F32({1, 1, 2, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  ExpectTorch("torch.max_pool2d(x0, [2, 2])", {x}, {F32({1, 1, 1, 2}, {7, 9})});
  ExpectTorch("torch.max_pool2d(x0, [2, 2], [2, 2], [0, 0], [1, 1], True)", {x},
              {F32({1, 1, 1, 3}, {7, 9, 10})});
  ExpectTorch("torch.max_pool2d(x0, [1, 2], [1, 1], [0, 0], [1, 2])", {x},
              {F32({1, 1, 2, 3}, {3, 4, 5, 8, 9, 10})});
  ExpectTorch("torch.avg_pool2d(x0, [2, 2], [], [0, 0])", {x},
              {F32({1, 1, 1, 2}, {4, 6})});
  const Numbers line = F32({1, 1, 3}, {3, 6, 9});
  ExpectTorch("torch.avg_pool1d(x0, [3], [1], [1])", {line},
              {F32({1, 1, 3}, {3, 6, 5})});
  ExpectTorch("torch.avg_pool1d(x0, [3], [1], [1], False, False)", {line},
              {F32({1, 1, 3}, {4.5, 6, 7.5})});
  ExpectTorch("torch.avg_pool1d(x0, [2], [2], [0], True)", {line},
              {F32({1, 1, 2}, {4.5, 9})});
  ExpectTorch("torch.avg_pool2d(x0, [1, 2], [1, 2], [0, 0], False, True, 3)",
              {x}, {F32({1, 1, 2, 2}, {1, 7.0 / 3, 13.0 / 3, 17.0 / 3})});
  ExpectTorch("torch.adaptive_avg_pool2d(x0, [1, 1])", {x},
              {F32({1, 1, 1, 1}, {5.5})});
  // The windows of adaptive pooling have unequal sizes and overlap: the columns
  // [0, 2), [1, 4) and [3, 5).
  ExpectTorch("torch.adaptive_avg_pool2d(x0, [None, 3])", {x},
              {F32({1, 1, 2, 3}, {1.5, 3, 4.5, 6.5, 8, 9.5})});
  ExpectTorch("(torch.adaptive_max_pool1d(x0, [1]))[0]", {line},
              {F32({1, 1, 1}, {9})});
  // Indices count row by row in the whole image.
  ExpectTorch("(torch.adaptive_max_pool2d(x0, [None, 3]))[1]", {x},
              {I64({1, 1, 2, 3}, {1, 3, 4, 6, 8, 9})});
  ExpectTorch("(torch.adaptive_max_pool2d(x0, [1, 2]))[1]", {x},
              {I64({1, 1, 1, 2}, {7, 9})});
  // If several elements are the maximum, the index of the first one is
  // returned.
  ExpectTorch("torch.adaptive_max_pool2d(x0, [1, 1])",
              {F32({1, 1, 2, 2}, {1, 3, 3, 2})},
              {F32({1, 1, 1, 1}, {3}), I64({1, 1, 1, 1}, {1})});
}

// Returns (x - mean) / sqrt(variance + eps) for a group of elements.
std::vector<double> Standardized(std::vector<double> x, double eps) {
  double mean = 0;
  for (const double one : x) mean += one / static_cast<double>(x.size());
  double variance = 0;
  for (const double one : x)
    variance += (one - mean) * (one - mean) / static_cast<double>(x.size());
  for (double& one : x) one = (one - mean) / std::sqrt(variance + eps);
  return x;
}

TEST(Layers, Normalizations) {
  const Numbers x = Varied({1, 2, 4}, 1);
  const std::vector<double> first(x.values.begin(), x.values.begin() + 4);
  const std::vector<double> second(x.values.begin() + 4, x.values.end());
  std::vector<double> each = Standardized(first, 0.1);
  const std::vector<double> other = Standardized(second, 0.1);
  each.insert(each.end(), other.begin(), other.end());
  ExpectTorch("torch.layer_norm(x0, [4], None, None, 0.1)", {x},
              {F32({1, 2, 4}, each)});
  ExpectTorch(
      "torch.instance_norm(x0, None, None, None, None, True, 0.1, 0.1, False)",
      {x}, {F32({1, 2, 4}, each)});
  ExpectTorch("torch.group_norm(x0, 2, None, None, 0.1)", {x},
              {F32({1, 2, 4}, each)});
  ExpectTorch("torch.group_norm(x0, 1, None, None, 0.1)", {x},
              {F32({1, 2, 4}, Standardized(x.values, 0.1))});
  ExpectTorch(
      "torch.batch_norm(x0, None, None, None, None, True, 0.1, 0.1, False)",
      {x}, {F32({1, 2, 4}, each)});
  // Outside of training, batch_norm normalizes by the statistics that were
  // measured in training.
  std::vector<double> measured;
  for (size_t i = 0; i < 8; ++i) {
    const double c = i < 4 ? 0 : 1;
    measured.push_back((x.values[i] - c) / std::sqrt(c + 1 + 0.5) * (c + 2) +
                       c);
  }
  ExpectTorch(
      "torch.batch_norm(x0, torch.tensor([2., 3.]), torch.tensor([0., 1.]), "
      "torch.tensor([0., 1.]), torch.tensor([1., 2.]), False, 0.1, 0.5, False)",
      {x}, {F32({1, 2, 4}, measured)});
  std::vector<double> rms = x.values;
  for (size_t row = 0; row < 2; ++row) {
    double mean = 0;
    for (size_t i = 0; i < 4; ++i)
      mean += rms[row * 4 + i] * rms[row * 4 + i] / 4;
    for (size_t i = 0; i < 4; ++i) rms[row * 4 + i] /= std::sqrt(mean + 0.1);
  }
  ExpectTorch("torch.rms_norm(x0, [4], None, 0.1)", {x}, {F32({1, 2, 4}, rms)});
}

TEST(Layers, Products) {
  const Numbers a = F32({2, 3}, {1, 2, 3, 4, 5, 6});
  const Numbers b = F32({3, 2}, {1, 0, 0, 1, 1, 1});
  const Numbers ab = F32({2, 2}, {4, 5, 10, 11});
  for (const char* expression :
       {"torch.mm(x0, x1)", "torch.matmul(x0, x1)",
        "torch.linear(x0, torch.t(x1))",
        "torch.einsum(\"ij,jk->ik\", [x0, x1])",
        "torch.tensordot(x0, x1, [1], [0])", "torch.chain_matmul([x0, x1])"})
    ExpectTorch(expression, {a, b}, {ab});
  ExpectTorch("torch.addmm(torch.ones([2]), x0, x1, beta=2, alpha=0.5)", {a, b},
              {F32({2, 2}, {4, 4.5, 7, 7.5})});
  ExpectTorch("torch.bmm(torch.unsqueeze(x0, 0), torch.unsqueeze(x1, 0))",
              {a, b}, {F32({1, 2, 2}, ab.values)});
  ExpectTorch(
      "torch.baddbmm(torch.ones([1]), torch.unsqueeze(x0, 0), "
      "torch.unsqueeze(x1, 0), beta=0)",
      {a, b}, {F32({1, 2, 2}, ab.values)});
  ExpectTorch("torch.mv(x0, torch.select(x1, 1, 1))", {a, b},
              {F32({2}, {5, 11})});
  ExpectTorch("torch.dot(torch.select(x0, 0, 0), torch.select(x0, 0, 1))", {a},
              {F32({}, {32})});
  ExpectTorch("torch.outer(torch.select(x0, 0, 0), torch.tensor([1., 2.]))",
              {a}, {F32({3, 2}, {1, 2, 2, 4, 3, 6})});
  ExpectTorch("torch.cross(torch.select(x0, 0, 0), torch.select(x0, 0, 1))",
              {a}, {F32({3}, {-3, 6, -3})});
  ExpectTorch("torch.cdist(x0, torch.zeros([1, 3]), 2.)", {a},
              {F32({2, 1}, {std::sqrt(14), std::sqrt(77)})});
  ExpectTorch("torch.cosine_similarity(x0, torch.ones([2, 3]), 1)", {a},
              {F32({2}, {6 / std::sqrt(42.0), 15 / std::sqrt(231.0)})});
}

// The expected result is softmax(q k^T / sqrt(d)) v, row by row.
TEST(Layers, Attention) {
  const Numbers q = Varied({1, 2, 4}, 1);
  const Numbers k = Varied({1, 3, 4}, 2);
  const Numbers v = Varied({1, 3, 2}, 3);
  for (const bool is_causal : {false, true}) {
    Numbers y = F32({1, 2, 2}, {});
    for (int64_t i = 0; i < 2; ++i) {
      std::vector<double> weights;
      double sum = 0;
      for (int64_t j = 0; j < 3; ++j) {
        double score = 0;
        for (int64_t d = 0; d < 4; ++d)
          score += At(q, {0, i, d}) * At(k, {0, j, d}) / 2;
        weights.push_back(is_causal && j > i ? 0 : std::exp(score));
        sum += weights.back();
      }
      for (int64_t d = 0; d < 2; ++d) {
        double value = 0;
        for (int64_t j = 0; j < 3; ++j)
          value += weights[static_cast<size_t>(j)] / sum * At(v, {0, j, d});
        y.values.push_back(value);
      }
    }
    ExpectTorch(std::string("torch.scaled_dot_product_attention(x0, x1, x2, "
                            "None, 0., ") +
                    (is_causal ? "True)" : "False)"),
                {q, k, v}, {y});
  }
}

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// Returns the sums that enter the gates of a recurrent cell (LSTMCell, GRUCell,
// RNNCell), as PyTorch's documentation defines them: the products of the
// weights with an input or a state, plus the bias.
std::vector<double> GateSums(const Numbers& w, const Numbers& bias,
                             const std::vector<double>& x) {
  std::vector<double> sums = bias.values;
  for (int64_t g = 0; g < w.dims[0]; ++g)
    for (int64_t i = 0; i < w.dims[1]; ++i)
      sums[static_cast<size_t>(g)] += At(w, {g, i}) * x[static_cast<size_t>(i)];
  return sums;
}
void LstmStep(const std::vector<double>& a, const std::vector<double>& b,
              std::vector<double>& h, std::vector<double>& c) {
  const size_t size = h.size();
  for (size_t u = 0; u < size; ++u) {
    const auto gate = [&](size_t g) {
      return a[g * size + u] + b[g * size + u];
    };
    c[u] = Sigmoid(gate(1)) * c[u] + Sigmoid(gate(0)) * std::tanh(gate(2));
    h[u] = Sigmoid(gate(3)) * std::tanh(c[u]);
  }
}
void GruStep(const std::vector<double>& a, const std::vector<double>& b,
             std::vector<double>& h) {
  const size_t size = h.size();
  for (size_t u = 0; u < size; ++u) {
    const double reset = Sigmoid(a[u] + b[u]);
    const double update = Sigmoid(a[size + u] + b[size + u]);
    const double candidate =
        std::tanh(a[2 * size + u] + reset * b[2 * size + u]);
    h[u] = (1 - update) * candidate + update * h[u];
  }
}

TEST(Layers, RecurrentBothWays) {
  constexpr int64_t kSteps = 3;
  constexpr int64_t kIn = 2;
  constexpr int64_t kUnits = 2;
  const Numbers x = Varied({kSteps, 1, kIn}, 1);
  for (const bool is_lstm : {true, false}) {
    const int64_t gates = is_lstm ? 4 : 3;
    std::vector<Numbers> inputs = {x};
    for (int i = 0; i < 8; ++i) {
      inputs.push_back(i % 4 < 2 ? Varied({gates * kUnits, kUnits}, i + 2)
                                 : Varied({gates * kUnits}, i + 2));
    }
    Numbers y =
        F32({kSteps, 1, 2 * kUnits}, std::vector<double>(kSteps * 2 * kUnits));
    std::vector<double> last_h;
    std::vector<double> last_c;
    for (size_t direction = 0; direction < 2; ++direction) {
      std::vector<double> h(kUnits);
      std::vector<double> c(kUnits);
      for (int64_t step = 0; step < kSteps; ++step) {
        const int64_t t = direction == 0 ? step : kSteps - 1 - step;
        const std::vector<double> now = {At(x, {t, 0, 0}), At(x, {t, 0, 1})};
        const Numbers* w = &inputs[1 + direction * 4];
        const std::vector<double> a = GateSums(w[0], w[2], now);
        const std::vector<double> b = GateSums(w[1], w[3], h);
        if (is_lstm)
          LstmStep(a, b, h, c);
        else
          GruStep(a, b, h);
        for (size_t u = 0; u < kUnits; ++u)
          y.values[static_cast<size_t>(t) * 2 * kUnits + direction * kUnits +
                   u] = h[u];
      }
      last_h.insert(last_h.end(), h.begin(), h.end());
      last_c.insert(last_c.end(), c.begin(), c.end());
    }
    const Numbers hn = F32({2, 1, kUnits}, last_h);
    const std::string weights = "[x1, x2, x3, x4, x5, x6, x7, x8]";
    const std::string zeros = "torch.zeros([2, 1, 2])";
    const std::string rest = ", True, 1, 0., False, True, False)";
    if (is_lstm) {
      ExpectTorch(
          "torch.lstm(x0, [" + zeros + ", " + zeros + "], " + weights + rest,
          inputs, {y, hn, F32({2, 1, kUnits}, last_c)});
    } else {
      ExpectTorch("torch.gru(x0, " + zeros + ", " + weights + rest, inputs,
                  {y, hn});
    }
  }
}

TEST(Layers, RecurrentCells) {
  const Numbers x = Varied({1, 2}, 1);
  const Numbers h = Varied({1, 2}, 2);
  const Numbers a = Varied({2, 2}, 3);
  const Numbers b = Varied({2, 2}, 4);
  const Numbers zero = F32({2}, {0, 0});
  std::vector<double> sums = GateSums(a, zero, x.values);
  const std::vector<double> from_h = GateSums(b, zero, h.values);
  for (size_t i = 0; i < 2; ++i) sums[i] += from_h[i];
  std::vector<double> tanh = sums;
  std::vector<double> relu = sums;
  for (double& one : tanh) one = std::tanh(one);
  for (double& one : relu) one = std::max(one, 0.0);
  ExpectTorch("torch.rnn_tanh_cell(x0, x1, x2, x3)", {x, h, a, b},
              {F32({1, 2}, tanh)});
  ExpectTorch("torch.rnn_relu_cell(x0, x1, x2, x3)", {x, h, a, b},
              {F32({1, 2}, relu)});
}

TEST(Layers, Images) {
  const Numbers line = F32({1, 1, 2}, {0, 4});
  ExpectTorch("torch.upsample_nearest1d(x0, [4], None)", {line},
              {F32({1, 1, 4}, {0, 0, 4, 4})});
  ExpectTorch("torch.upsample_nearest1d(x0, None, [1.5])", {line},
              {F32({1, 1, 3}, {0, 0, 4})});
  ExpectTorch("torch.upsample_linear1d(x0, [4], False, None)", {line},
              {F32({1, 1, 4}, {0, 1, 3, 4})});
  ExpectTorch("torch.upsample_linear1d(x0, [3], True, None)", {line},
              {F32({1, 1, 3}, {0, 2, 4})});
  ExpectTorch(
      "torch.upsample_bilinear2d(torch.unsqueeze(x0, 0), None, True, "
      "[1., 2.])",
      {line}, {F32({1, 1, 1, 4}, {0, 4.0 / 3, 8.0 / 3, 4})});
  // pixel_shuffle with the factor r = 2 makes [C, H r, W r] of [C r², H, W].
  const Numbers pixels = F32({1, 4, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Numbers shuffled = F32({1, 1, 2, 4}, {1, 3, 2, 4, 5, 7, 6, 8});
  ExpectTorch("torch.pixel_shuffle(x0, 2)", {pixels}, {shuffled});
  ExpectTorch("torch.pixel_unshuffle(x0, 2)", {shuffled}, {pixels});
  ExpectTorch("torch.channel_shuffle(x0, 2)", {pixels},
              {F32({1, 4, 1, 2}, {1, 2, 5, 6, 3, 4, 7, 8})});
  ExpectTorch("torch.im2col(x0, [1, 2], [1, 1], [0, 0], [1, 1])",
              {F32({1, 1, 2, 3}, {1, 2, 3, 4, 5, 6})},
              {F32({1, 2, 4}, {1, 2, 4, 5, 2, 3, 5, 6})});
  ExpectTorch("torch.glu(x0, 2)", {line}, {F32({1, 1, 1}, {0})});
  const Numbers boxes =
      F32({3, 4}, {0, 0, 10, 10, 1, 1, 10, 10, 20, 20, 30, 30});
  ExpectTorch("ops.torchvision.nms(x0, x1, 0.5)",
              {boxes, F32({3}, {0.5, 0.9, 0.1})}, {I64({2}, {1, 2})});
}

TEST(Layers, DeformConv2d) {
  for (const bool is_masked : {false, true}) {
    SCOPED_TRACE(is_masked);
    const DeformExample example(/*has_sharp_border=*/false, is_masked);
    const std::string call =
        "ops.torchvision.deform_conv2d(x0, x1, x2, x3, x4, 2, 1, 1, 2, 1, 2, "
        "2, 2, ";
    ExpectTorch(
        call + (is_masked ? "True)" : "False)"),
        {example.x, example.w, example.offsets, example.mask, example.bias},
        {example.Expected()});
  }
}

}  // namespace
}  // namespace ember::tests
