// Tests operators that models use less often than layers, against results of
// PyTorch or formulas that are written out here.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/torchscript/one_operator.h"

namespace ember::tests {
namespace {

const double kNan = std::nan("");
const Numbers kMatrix = F32({2, 3}, {3, 1, 2, -1, 5, 4});

TEST(Operators, ResizingToAlignedCorners) {
  // A scale factor of 2.5 makes 7 elements (7.5, rounded down) of 3. With
  // aligned corners only these sizes count: the first and last results equal
  // the first and last elements.
  const Numbers x = F32({1, 1, 3}, {0, 6, 12});
  ExpectTorch("torch.upsample_linear1d(x0, None, True, [2.5])", {x},
              {F32({1, 1, 7}, {0, 2, 4, 6, 8, 10, 12})});
  const Numbers image = F32({1, 1, 3, 2}, {0, 12, 6, 18, 12, 24});
  ExpectTorch("torch.upsample_bilinear2d(x0, None, True, [2.5, 1.5])", {image},
              {F32({1, 1, 7, 3}, {0,  6, 12, 2,  8,  14, 4,  10, 16, 6, 12,
                                  18, 8, 14, 20, 10, 16, 22, 12, 18, 24})});
  // An open extent can be multiplied by a factor that is a simple fraction.
  frontends::ImportOptions options;
  options.input_shapes["x0"] = {1, 1, std::nullopt};
  ExpectNumbers(
      RunTorchArchive(
          TorchArchive("return torch.upsample_nearest1d(x0, None, [1.5])", {x}),
          {x}, options),
      {F32({1, 1, 4}, {0, 0, 6, 12})});
}

TEST(Operators, GridsAndWindows) {
  const Numbers x = F32({1, 1, 2, 2}, {1, 2, 3, 4});
  const Numbers grid = F32({1, 1, 3, 2}, {0, 0, -1, -1, 3, 0});
  ExpectTorch("torch.grid_sampler(x0, x1, 0, 0, True)", {x, grid},
              {F32({1, 1, 1, 3}, {2.5, 1, 0})});
  ExpectTorch("torch.grid_sampler(x0, x1, 0, 1, True)", {x, grid},
              {F32({1, 1, 1, 3}, {2.5, 1, 3})});
  ExpectTorch("torch.grid_sampler_2d(x0, x1, 1, 0, True)", {x, grid},
              {F32({1, 1, 1, 3}, {1, 1, 0})});
  const Numbers theta = F32({1, 2, 3}, {1, 0, 0.5, 0, 2, 0});
  ExpectTorch("torch.affine_grid_generator(x0, [1, 1, 2, 2], True)", {theta},
              {F32({1, 2, 2, 2}, {-0.5, -2, 1.5, -2, -0.5, 2, 1.5, 2})});
  // Along a dim with a single element, the grid's coordinate is 0, the middle.
  ExpectTorch("torch.affine_grid_generator(x0, [1, 1, 1, 2], True)", {theta},
              {F32({1, 1, 2, 2}, {-0.5, 0, 1.5, 0})});
  const Numbers columns = F32({1, 2, 2}, {1, 2, 3, 4});
  ExpectTorch("torch.col2im(x0, [1, 3], [1, 2], [1, 1], [0, 0], [1, 1])",
              {columns}, {F32({1, 1, 1, 3}, {1, 5, 4})});
}

TEST(Operators, Regions) {
  Numbers x = F32({1, 1, 4, 4}, {});
  for (int i = 0; i < 16; ++i) x.values.push_back(i);
  const Numbers whole = F32({1, 5}, {0, 0, 0, 3, 3});
  // The elements are a linear function of the position, so the mean over a bin
  // is the value in the middle of the bin.
  ExpectTorch("ops.torchvision.roi_align(x0, x1, 1., 1, 1, 2, False)",
              {x, whole}, {F32({1, 1, 1, 1}, {7.5})});
  ExpectTorch("ops.torchvision.roi_align(x0, x1, 1., 1, 2, -1, True)",
              {x, F32({1, 5}, {0, 1, 1, 3, 3})}, {F32({1, 1, 1, 2}, {7, 8})});
  ExpectTorch("(ops.torchvision.roi_pool(x0, x1, 1., 2, 2))[0]", {x, whole},
              {F32({1, 1, 2, 2}, {5, 7, 13, 15})});
  Numbers parts = F32({1, 4, 2, 2}, {});
  for (int i = 0; i < 16; ++i) parts.values.push_back(i / 4);
  ExpectTorch("(ops.torchvision.ps_roi_align(x0, x1, 1., 2, 2, 2))[0]",
              {parts, F32({1, 5}, {0, 0.5, 0.5, 1.5, 1.5})},
              {F32({1, 1, 2, 2}, {0, 1, 2, 3})});
  ExpectTorch("(ops.torchvision.ps_roi_pool(x0, x1, 1., 2, 2))[0]",
              {parts, F32({1, 5}, {0, 0, 0, 2, 2})},
              {F32({1, 1, 2, 2}, {0, 0, 0, 0})});
}

TEST(Operators, RunningExtremesAndQuantiles) {
  ExpectTorch("torch.cummax(x0, 1)", {F32({1, 4}, {1, 3, 3, 2})},
              {F32({1, 4}, {1, 3, 3, 3}), I64({1, 4}, {0, 1, 2, 2})});
  const Numbers nan = F32({3}, {2, kNan, 1});
  ExpectTorch("torch.isnan((torch.cummin(x0, 0))[0])", {nan},
              {{DType::kBool, {3}, {0, 1, 1}}});
  ExpectTorch("(torch.cummin(x0, 0))[1]", {nan}, {I64({3}, {0, 1, 1})});
  ExpectTorch("torch.cummin(x0, 0)", {I64({3}, {-2, 5, -2})},
              {I64({3}, {-2, -2, -2}), I64({3}, {0, 0, 2})});
  ExpectTorch("torch.quantile(x0, 0.25, 1)", {kMatrix}, {F32({2}, {1.5, 1.5})});
  ExpectTorch("torch.quantile(x0, x1, 1, True)", {kMatrix, F32({2}, {0, 0.75})},
              {F32({2, 2, 1}, {1, -1, 2.5, 4.5})});
  ExpectTorch("torch.quantile(x0, 0.3, 1, False, interpolation=\"higher\")",
              {kMatrix}, {F32({2}, {2, 4})});
  const Numbers nans = F32({2, 3}, {1, kNan, 3, 4, 5, 6});
  ExpectTorch("torch.isnan(torch.quantile(x0, 0.5, 1))", {nans},
              {{DType::kBool, {2}, {1, 0}}});
  ExpectTorch("torch.nanquantile(x0, 0.5, 1)", {nans}, {F32({2}, {2, 5})});
  ExpectTorch("torch.nanmean(x0, [1])", {nans}, {F32({2}, {2, 5})});
  ExpectTorch("torch.histc(x0, 2, -1, 5)", {kMatrix}, {F32({2}, {2, 4})});
}

TEST(Operators, Norms) {
  ExpectTorch("torch.linalg_norm(x0)", {kMatrix}, {F32({}, {std::sqrt(56)})});
  ExpectTorch("torch.linalg_norm(x0, 1)", {kMatrix}, {F32({}, {6})});
  ExpectTorch("torch.linalg_norm(x0, inf)", {kMatrix}, {F32({}, {10})});
  ExpectTorch("torch.linalg_norm(x0, \"fro\", [0, 1], True)", {kMatrix},
              {F32({1, 1}, {std::sqrt(56)})});
  ExpectTorch("torch.linalg_norm(x0, 1, [1])", {kMatrix}, {F32({2}, {6, 10})});
  ExpectTorch("torch._weight_norm(x0, x1, 0)",
              {F32({2, 2}, {3, 4, 0, 2}), F32({2, 1}, {10, 3})},
              {F32({2, 2}, {6, 8, 0, 3})});
  ExpectTorch("torch._weight_norm(x0, x1, -1)",
              {F32({2, 2}, {3, 4, 0, 12}), F32({}, {26})},
              {F32({2, 2}, {6, 8, 0, 24})});
  ExpectTorch("torch.pdist(x0)", {F32({3, 2}, {0, 0, 3, 4, 3, 0})},
              {F32({3}, {5, 3, 4})});
}

TEST(Operators, Systems) {
  const Numbers a = F32({2, 2}, {0, 2, 4, 1});
  ExpectTorch("torch.inverse(x0)", {a}, {F32({2, 2}, {-0.125, 0.25, 0.5, 0})});
  ExpectTorch("torch.linalg_det(x0)", {a}, {F32({}, {-8})});
  ExpectTorch("torch.linalg_det(x0)", {F32({2, 2}, {1, 2, 2, 4})},
              {F32({}, {0})});
  ExpectTorch("torch.linalg_solve(x0, x1)", {a, F32({2}, {2, 6})},
              {F32({2}, {1.25, 1})});
  ExpectTorch("torch.linalg_cholesky(x0)", {F32({2, 2}, {4, 2, 2, 10})},
              {F32({2, 2}, {2, 0, 1, 3})});
  ExpectTorch("torch.matrix_power(x0, 3)", {F32({2, 2}, {1, 1, 0, 1})},
              {F32({2, 2}, {1, 3, 0, 1})});
}

TEST(Operators, SpecialFunctions) {
  const Numbers x = F32({3}, {0.5, 3, 4});
  ExpectTorch("torch.lgamma(x0)", {x},
              {F32({3}, {std::lgamma(0.5), std::lgamma(3), std::lgamma(4)})});
  ExpectTorch("torch.digamma(x0)", {F32({1}, {1})},
              {F32({1}, {-0.5772156649})});
  ExpectTorch("torch.erfinv(x0)", {F32({2}, {std::erf(0.25), std::erf(-1)})},
              {F32({2}, {0.25, -1})});
  ExpectTorch("torch.erfc(x0)", {F32({2}, {-0.5, 4})},
              {F32({2}, {std::erfc(-0.5), std::erfc(4)})}, 1e-7);
  ExpectTorch("torch.special_ndtr(x0)", {F32({2}, {0, 1})},
              {F32({2}, {0.5, 0.8413447})});
  ExpectTorch("torch.hann_window(4)", {x}, {F32({4}, {0, 0.5, 1, 0.5})});
  ExpectTorch("torch.bartlett_window(5, False)", {x},
              {F32({5}, {0, 0.5, 1, 0.5, 0})});
}

TEST(Operators, ElementsAtPlaces) {
  const Numbers table = F32({3, 2}, {1, 2, 3, 4, 5, 6});
  const Numbers indices = I64({4}, {0, 2, 1, 2});
  const Numbers offsets = I64({3}, {0, 2, 2});
  const std::string start = "(torch.embedding_bag(x0, x1, x2, False, ";
  ExpectTorch(start + "0))[0]", {table, indices, offsets},
              {F32({3, 2}, {6, 8, 0, 0, 8, 10})});
  ExpectTorch(start + "1))[0]", {table, indices, offsets},
              {F32({3, 2}, {3, 4, 0, 0, 4, 5})});
  ExpectTorch(start + "2))[0]", {table, indices, offsets},
              {F32({3, 2}, {5, 6, 0, 0, 5, 6})});
  ExpectTorch(start + "1, False, None, False, 2))[0]",
              {table, indices, offsets}, {F32({3, 2}, {1, 2, 0, 0, 3, 4})});
  ExpectTorch("torch.repeat_interleave(x0, x1, 0)",
              {table, I64({3}, {2, 0, 1})}, {F32({3, 2}, {1, 2, 1, 2, 5, 6})});
  ExpectTorch("torch.repeat_interleave(x0, 2, 0)", {F32({2}, {1, 2})},
              {F32({4}, {1, 1, 2, 2})});
  ExpectTorch("torch.masked_scatter(x0, torch.gt(x0, 2), x1)",
              {table, F32({5}, {10, 20, 30, 40, 50})},
              {F32({3, 2}, {1, 2, 10, 20, 30, 40})});
  ExpectTorch("torch.isin(x0, x1)", {indices, I64({2}, {2, 7})},
              {{DType::kBool, {4}, {0, 1, 0, 1}}});
}

TEST(Operators, RunsOfEqualElements) {
  const Numbers x = I64({5}, {3, 1, 3, 3, 2});
  ExpectTorch(
      "torch._unique2(x0, True, True, True)", {x},
      {I64({3}, {1, 2, 3}), I64({5}, {2, 0, 2, 2, 1}), I64({3}, {1, 1, 3})});
  ExpectTorch("torch.unique_consecutive(x0, True, True)", {x},
              {I64({4}, {3, 1, 3, 2}), I64({5}, {0, 1, 2, 2, 3}),
               I64({4}, {1, 1, 2, 1})});
  ExpectTorch("torch.bincount(x0, None, 5)", {x}, {I64({5}, {0, 1, 1, 3, 0})});
}

TEST(Operators, Arrangements) {
  const Numbers a = F32({2}, {1, 2});
  const Numbers b = F32({2}, {3, 4});
  ExpectTorch("torch.kron(x0, x1)", {a, b}, {F32({4}, {3, 4, 6, 8})});
  ExpectTorch("torch.diff(x0, 2)", {F32({4}, {1, 4, 9, 16})},
              {F32({2}, {2, 2})});
  ExpectTorch("torch.diff(x0, 1, -1, None, x1)", {a, b}, {F32({3}, {1, 1, 1})});
  ExpectTorch("torch.tensor_split(x0, [1, 2], 1)", {kMatrix},
              {F32({2, 1}, {3, -1}), F32({2, 1}, {1, 5}), F32({2, 1}, {2, 4})});
  ExpectTorch("torch.diag_embed(x0, 1)", {a},
              {F32({3, 3}, {0, 1, 0, 0, 0, 2, 0, 0, 0})});
  ExpectTorch("torch.block_diag([x0, x1])", {a, b},
              {F32({2, 4}, {1, 2, 0, 0, 0, 0, 3, 4})});
  ExpectTorch("torch.cartesian_prod([x0, x1])", {a, b},
              {F32({4, 2}, {1, 3, 1, 4, 2, 3, 2, 4})});
  ExpectTorch("torch.as_strided(x0, [2, 2], [1, 2], 1)", {kMatrix},
              {F32({2, 2}, {1, -1, 2, 5})});
}

TEST(Operators, PlacesOfMaxima) {
  const Numbers x = F32({1, 1, 2, 4}, {1, 5, 2, 0, 3, 4, 7, 7});
  ExpectTorch("torch.max_pool2d_with_indices(x0, [2, 2])", {x},
              {F32({1, 1, 1, 2}, {5, 7}), I64({1, 1, 1, 2}, {1, 6})});
  ExpectTorch(
      "torch.max_pool2d_with_indices(x0, [1, 3], [1, 2], [0, 1])", {x},
      {F32({1, 1, 2, 2}, {5, 5, 4, 7}), I64({1, 1, 2, 2}, {1, 1, 5, 6})});
  ExpectTorch("torch.max_unpool2d(x0, x1, [2, 3])",
              {F32({1, 1, 1, 2}, {5, 7}), I64({1, 1, 1, 2}, {1, 5})},
              {F32({1, 1, 2, 3}, {0, 5, 0, 0, 0, 7})});
}

TEST(Operators, Losses) {
  const Numbers x = F32({2}, {0.2, 0.9});
  const Numbers y = F32({2}, {0, 1});
  ExpectTorch("torch.mse_loss(x0, x1)", {x, y}, {F32({}, {0.025})});
  ExpectTorch("torch.l1_loss(x0, x1, 2)", {x, y}, {F32({}, {0.3})});
  ExpectTorch("torch.smooth_l1_loss(x0, x1, 0, 0.15)", {x, y},
              {F32({2}, {0.125, 0.1 * 0.1 / 0.3})});
  ExpectTorch("torch.binary_cross_entropy(x0, x1, None, 0)", {x, y},
              {F32({2}, {-std::log(0.8), -std::log(0.9)})});
  ExpectTorch(
      "torch.binary_cross_entropy_with_logits(x0, x1)", {x, y},
      {F32({},
           {(std::log1p(std::exp(0.2)) + std::log1p(std::exp(-0.9))) / 2})});
  const Numbers logits = F32({2, 2}, {0, 0, 1, 1});
  ExpectTorch("torch.cross_entropy_loss(x0, x1)", {logits, I64({2}, {0, 1})},
              {F32({}, {std::log(2.0)})});
  ExpectTorch("torch.cross_entropy_loss(x0, x1, x2, 1, 1)",
              {logits, I64({2}, {0, 1}), F32({2}, {3, 5})},
              {F32({}, {std::log(2.0)})});
  ExpectTorch("torch.nll_loss(x0, x1, None, 0)",
              {F32({2, 2}, {-1, -2, -3, -4}), I64({2}, {1, 0})},
              {F32({2}, {2, 3})});
}

TEST(Operators, FourierTransforms) {
  const Numbers x = F32({4}, {1, 2, 3, 4});
  ExpectTorch("torch.view_as_real(torch.fft_rfft(x0))", {x},
              {F32({3, 2}, {10, 0, -2, 2, -2, 0})});
  ExpectTorch("torch.abs(torch.fft_fft(x0))", {x},
              {F32({4}, {10, std::sqrt(8), 2, std::sqrt(8)})});
  ExpectTorch("torch.fft_irfft(torch.fft_rfft(x0))", {x}, {x});
  ExpectTorch("torch.real(torch.fft_ifft(torch.fft_fft(x0)))", {x}, {x});
  ExpectTorch("torch.fft_irfft2(torch.fft_rfft2(x0))",
              {F32({2, 2}, {1, 2, 3, 4})}, {F32({2, 2}, {1, 2, 3, 4})});
  ExpectTorch(
      "torch.view_as_real(torch.mul(torch.view_as_complex(x0), "
      "torch.view_as_complex(x0)))",
      {F32({1, 2}, {1, 2})}, {F32({1, 2}, {-3, 4})});
  ExpectTorch(
      "torch.view_as_real(torch.unsqueeze(torch.view_as_complex(x0), 0))",
      {F32({1, 2}, {1, 2})}, {F32({1, 1, 2}, {1, 2})});
  // A signal is cut into frames and transformed (stft), and the inverse (istft)
  // must give the signal again.
  const std::string stft =
      "torch.stft(x0, 4, 2, 4, x1, True, \"reflect\", False, True, True)";
  ExpectTorch("torch.istft(" + stft + ", 4, 2, 4, x1)",
              {F32({8}, {1, 2, 3, 4, 5, 6, 7, 8}), F32({4}, {0, 1, 2, 1})},
              {F32({8}, {1, 2, 3, 4, 5, 6, 7, 8})});
  ExpectTorch("torch.size(" + stft + ")",
              {F32({8}, {1, 2, 3, 4, 5, 6, 7, 8}), F32({4}, {0, 1, 2, 1})},
              {I64({}, {3}), I64({}, {5})});
  const auto failed = RunTorch("return torch.fft_rfft(x0)", {x});
  ASSERT_FALSE(failed.ok());
  EXPECT_NE(failed.status().message().find("found one of complex numbers"),
            std::string::npos)
      << failed.status().message();
}

// An encoder layer as one fused operator must have the same results as the
// operators that it consists of.
TEST(Operators, TransformersFastPath) {
  Numbers x = F32({1, 2, 2}, {1, 2, 3, 5});
  const Numbers in = F32({6, 2}, {1, 0, 0, 1, 0.5, 0, 0, 1, 1, 1, 0, 2});
  const Numbers out = F32({2, 2}, {1, 0.5, -1, 2});
  const Numbers bias = F32({6}, {0, 1, 0, 0, 0, 1});
  const Numbers two = F32({2}, {0.5, 1.5});
  const std::string attention =
      "q, k, v = torch.chunk(torch.linear(x0, x1, x2), 3, -1)\n"
      "w = torch.softmax(torch.div(torch.matmul(q, torch.transpose(k, 1, 2)), "
      "1.4142135623730951), -1)\n"
      "a = torch.linear(torch.matmul(w, v), x3, x4)\n";
  const auto expected = RunTorch(
      attention +
          "n = torch.layer_norm(torch.add(x0, a), [2], x4, x4, 0.1)\n"
          "f = torch.linear(torch.relu(torch.linear(n, x3, x4)), x3, x4)\n"
          "return (torch.layer_norm(torch.add(n, f), [2], x4, x4, 0.1), w)",
      {x, in, bias, out, two});
  ASSERT_TRUE(expected.ok()) << expected.status().message();
  ExpectTorch(
      "torch._transformer_encoder_layer_fwd(x0, 2, 1, x1, x2, x3, x4, False, "
      "False, 0.1, x4, x4, x4, x4, x3, x4, x3, x4)",
      {x, in, bias, out, two}, {(*expected)[0]});
  ExpectTorch(
      "(torch._native_multi_head_attention(x0, x0, x0, 2, 1, x1, x2, x3, x4, "
      "None, True, True))[1]",
      {x, in, bias, out, two}, {(*expected)[1]});
  // A key that the mask hides gets the weight 0.
  ExpectTorch(
      "(torch._native_multi_head_attention(x0, x0, x0, 2, 1, x1, x2, x3, x4, "
      "x5, True, True, 1))[1]",
      {x, in, bias, out, two, {DType::kBool, {1, 2}, {0, 1}}},
      {F32({1, 2, 2}, {1, 0, 1, 0})});
}

// Sequences of different lengths form a nested tensor, which is padded to the
// length of the longest one.
TEST(Operators, NestedTensors) {
  const Numbers x = F32({2, 3, 1}, {1, 2, 3, 4, 5, 6});
  const Numbers mask = {DType::kBool, {2, 3}, {1, 1, 0, 1, 0, 0}};
  ExpectTorch(
      "torch.nested_to_padded_tensor(torch._nested_tensor_from_mask(x0, x1), "
      "0.)",
      {x, mask}, {F32({2, 2, 1}, {1, 2, 4, 0})});
}

TEST(Operators, WritingToCopies) {
  const auto expect = [](const std::string& body,
                         const std::vector<Numbers>& expected) {
    SCOPED_TRACE(body);
    ExpectNumbers(RunTorch(body, {F32({2, 2}, {1, 2, 3, 4})}), expected);
  };
  const Numbers same = F32({2, 2}, {1, 2, 3, 4});
  // torch.contiguous copies a tensor that is not row-major in memory. So
  // writing to the copy does not change the original.
  expect("y = torch.contiguous(torch.t(x0))\n_0 = torch.zero_(y)\nreturn x0",
         {same});
  expect("y = torch.reshape(torch.t(x0), [4])\n_0 = torch.zero_(y)\nreturn x0",
         {same});
  expect(
      "y = torch.contiguous(torch.expand(torch.select(x0, 0, 0), [3, 2]))\n"
      "_0 = torch.zero_(torch.select(y, 0, 0))\nreturn (x0, y)",
      {same, F32({3, 2}, {0, 0, 1, 2, 1, 2})});
  // The results of the following operators are views, so writing to them
  // changes the original.
  expect("y = torch.reshape(x0, [4])\n_0 = torch.zero_(y)\nreturn x0",
         {F32({2, 2}, {0, 0, 0, 0})});
  expect(
      "y = torch.contiguous(torch.slice(x0, 0, 1, 2))\n_0 = torch.zero_(y)\n"
      "return x0",
      {F32({2, 2}, {1, 2, 0, 0})});
  expect("return torch.stride(torch.t(x0))", {I64({}, {1}), I64({}, {2})});
  expect("y = torch.zeros([0])\n_0 = torch.add(x0, x0, out=y)\nreturn y",
         {F32({2, 2}, {2, 4, 6, 8})});
}

TEST(Operators, ListsDictsAndTexts) {
  const Numbers x = F32({1}, {1});
  const auto expect = [&](const std::string& body, double expected) {
    SCOPED_TRACE(body);
    ExpectNumbers(RunTorch(body, {x}), {F32({1}, {expected})});
  };
  expect("a = [3, 1, 2]\ntorch.sort(a)\nreturn torch.mul(x0, a[2])", 3);
  expect("a = [3, 1, 2]\ntorch.sort(a, True)\nreturn torch.mul(x0, a[2])", 1);
  expect(
      "d = torch.dict([(\"a\", x0), (\"b\", torch.neg(x0))])\n"
      "return d[\"b\"]",
      -1);
  expect(
      "d = {\"a\": x0}\ntorch.update(d, {\"b\": torch.neg(x0)})\n"
      "return torch.pop(d, \"b\")",
      -1);
  expect("return torch.mul(x0, torch.len(torch.split(\"a,b\", \",\")))", 2);
  expect("return torch.to(torch.mul(x0, 2), x0)", 2);
  expect(
      "def f():\n  return torch.mul(x0, 5)\ny = fork(f)\n"
      "return torch.wait(y)",
      5);
}

// The rank of a result is part of the module. A dim of 1 in a dim that the
// model leaves open is an error, not a result of another rank.
TEST(Operators, SqueezeOfAnOpenDimIsChecked) {
  frontends::ImportOptions options;
  options.input_shapes["x0"] = {std::nullopt, 3, 1};
  for (const char* call : {"torch.squeeze(x0)", "torch.squeeze(x0, 0)"}) {
    const std::string archive =
        ScriptedTorchArchive(std::string("return ") + call, 1);
    const auto kept =
        RunTorchArchive(archive, {F32({2, 3, 1}, {1, 2, 3, 4, 5, 6})}, options);
    ASSERT_TRUE(kept.ok()) << kept.status().ToString();
    EXPECT_EQ((*kept)[0].dims[0], 2) << call;
    const auto dropped =
        RunTorchArchive(archive, {F32({1, 3, 1}, {1, 2, 3})}, options);
    ASSERT_FALSE(dropped.ok()) << call;
    EXPECT_NE(dropped.status().message().find("fix the dim when compiling"),
              std::string::npos)
        << dropped.status().ToString();
  }
}

TEST(Operators, ConditionsOfTheCode) {
  const std::vector<std::pair<std::string, bool>> questions = {
      {"torch.eq([1, 2], [1, 2])", true},
      {"torch.ne([1, 2], [1, 3])", true},
      {"torch.lt(1, 2)", true},
      {"torch.ge(1, 2)", false},
      {"torch.__not__(True)", false},
      {"torch.__contains__([1, 2], 2)", true},
      {"torch.__contains__({\"a\": 1}, \"b\")", false},
      {"torch.__is__(None, None)", true},
      {"torch.__isnot__(x0, None)", true},
      {"torch.eq(\"a\", \"a\")", true},
      {"torch.is_floating_point(x0)", true},
      {"isinstance(x0, Tensor)", true},
      {"torch.eq(torch.format(\"{}-{}\", 1, [2, 3]), \"1-[2, 3]\")", true},
  };
  for (const auto& [expression, expected] : questions) {
    SCOPED_TRACE(expression);
    ExpectNumbers(
        RunTorch("if " + expression +
                     ":\n  y = torch.ones([1])\nelse:\n  y = torch.zeros([1])\n"
                     "return y",
                 {F32({2, 3}, std::vector<double>(6))}),
        {F32({1}, {expected ? 1.0 : 0.0})});
  }
}

}  // namespace
}  // namespace ember::tests
