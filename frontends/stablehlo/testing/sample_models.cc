#include "frontends/stablehlo/testing/sample_models.h"

namespace ember::stablehlo {
namespace {

// Two layers with a relu between them, which is a function of its own, and the
// argmax of the result.
constexpr char kMlp[] = R"mlir(#loc1 = loc("x")
module @jit_mlp attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf32> {jax.arg_info = "x", mhlo.sharding = "{replicated}"} loc("x")) -> (tensor<2x2xf32> {jax.result_info = "scores"}, tensor<2xi32> {jax.result_info = "choice"}) {
    %cst = stablehlo.constant dense<[[1.000000e+00, -1.000000e+00, 5.000000e-01, 2.000000e+00], [0.000000e+00, 1.000000e+00, 1.000000e+00, -2.000000e+00], [2.000000e+00, 3.000000e+00, -1.000000e+00, 1.000000e+00]]> : tensor<3x4xf32> loc(#loc)
    %cst_0 = stablehlo.constant dense<[5.000000e-01, 0.000000e+00, -5.000000e-01, 1.000000e+00]> : tensor<4xf32>
    %cst_1 = stablehlo.constant dense<"0x0000803F000000400000003F0000803F000000C00000803F00000000000080BF"> : tensor<4x2xf32>
    %0 = stablehlo.dot_general %arg0, %cst, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32> loc(#loc2)
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<2x4xf32>
    %3 = stablehlo.add %0, %2 : tensor<2x4xf32>
    %4 = call @relu(%3) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %5 = stablehlo.dot_general %4, %cst_1, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x2xf32>) -> tensor<2x2xf32>
    %6:2 = call @argmax(%5) : (tensor<2x2xf32>) -> (tensor<2xf32>, tensor<2xi32>)
    return %5, %6#1 : tensor<2x2xf32>, tensor<2xi32> loc(unknown)
  }
  func.func private @relu(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<2x4xf32>
    return %1 : tensor<2x4xf32>
  }
  func.func private @argmax(%arg0: tensor<2x2xf32>) -> (tensor<2xf32>, tensor<2xi32>) {
    %0 = stablehlo.iota dim = 1 : tensor<2x2xi32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [1] : (tensor<2x2xf32>, tensor<2x2xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
     reducer(%arg1: tensor<f32>, %arg3: tensor<f32>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %2 = stablehlo.compare  GT, %arg1, %arg3,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %3 = stablehlo.compare  EQ, %arg1, %arg3,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.compare  LT, %arg2, %arg4,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %5 = stablehlo.and %3, %4 : tensor<i1>
      %6 = stablehlo.or %2, %5 : tensor<i1>
      %7 = stablehlo.select %2, %arg1, %arg3 : tensor<i1>, tensor<f32>
      %8 = stablehlo.select %6, %arg2, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %7, %8 : tensor<f32>, tensor<i32>
    }
    return %1#0, %1#1 : tensor<2xf32>, tensor<2xi32>
  }
}
#loc = loc(unknown)
#loc2 = loc("jit(mlp)/jit(main)/dot_general"("mlp.py":3:9 to :20))
)mlir";

// A convolution with SAME padding, batch normalisation, max pooling, and a mean
// over the result.
constexpr char kCnn[] = R"mlir(
module @jit_cnn {
  func.func public @main(%image: tensor<1x4x4x1xf32>) -> tensor<1x2xf32> {
    %cst = stablehlo.constant dense_resource<kernel> : tensor<3x3x1x2xf32>
    %scale = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf32>
    %offset = stablehlo.constant dense<[0.25, -1.0]> : tensor<2xf32>
    %mean = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %variance = stablehlo.constant dense<[4.0, 0.25]> : tensor<2xf32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.convolution(%image, %cst) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x4x4x1xf32>, tensor<3x3x1x2xf32>) -> tensor<1x4x4x2xf32>
    %1 = "stablehlo.batch_norm_inference"(%0, %scale, %offset, %mean, %variance) <{epsilon = 0.0 : f32, feature_index = 3 : i64}> : (tensor<1x4x4x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x4x4x2xf32>
    %2 = "stablehlo.reduce_window"(%1, %low) <{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg0: tensor<f32>, %arg1: tensor<f32>):
      %6 = stablehlo.maximum %arg0, %arg1 : tensor<f32>
      stablehlo.return %6 : tensor<f32>
    }) : (tensor<1x4x4x2xf32>, tensor<f32>) -> tensor<1x2x2x2xf32>
    %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [1, 2] : (tensor<1x2x2x2xf32>, tensor<f32>) -> tensor<1x2xf32>
    %four = stablehlo.constant dense<4.0> : tensor<1x2xf32>
    %4 = stablehlo.divide %3, %four : tensor<1x2xf32>
    return %4 : tensor<1x2xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      kernel: "0x04000000000080BF0000803F0000000000000040000080BF0000803F0000803F000000000000803F0000004000000040000000000000803F000080BF0000000000000040000000400000803F"
    }
  }
#-}
)mlir";

// One head of causal attention, computed row by row in a loop: scores with the
// rows so far, softmax, and the weighted sum.
constexpr char kTransformer[] = R"mlir(
module @jit_block {
  func.func public @main(%x: tensor<3x2xf32>, %wq: tensor<2x2xf32>, %wk: tensor<2x2xf32>) -> (tensor<3x2xf32> {jax.result_info = ""}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %c_1 = stablehlo.constant dense<3> : tensor<i32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<3x2xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %q = stablehlo.dot_general %x, %wq, contracting_dims = [1] x [0] : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
    %k = stablehlo.dot_general %x, %wk, contracting_dims = [1] x [0] : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
    %0:2 = stablehlo.while(%iterArg = %c, %iterArg_4 = %cst) : tensor<i32>, tensor<3x2xf32>
     cond {
      %1 = stablehlo.compare  LT, %iterArg, %c_1,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.dynamic_slice %q, %iterArg, %c, sizes = [1, 2] : (tensor<3x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
      %2 = stablehlo.dot_general %1, %k, contracting_dims = [1] x [1] : (tensor<1x2xf32>, tensor<3x2xf32>) -> tensor<1x3xf32>
      %3 = stablehlo.iota dim = 1 : tensor<1x3xi32>
      %4 = stablehlo.broadcast_in_dim %iterArg, dims = [] : (tensor<i32>) -> tensor<1x3xi32>
      %5 = stablehlo.compare  LE, %3, %4,  SIGNED : (tensor<1x3xi32>, tensor<1x3xi32>) -> tensor<1x3xi1>
      %6 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<1x3xf32>
      %7 = stablehlo.select %5, %2, %6 : tensor<1x3xi1>, tensor<1x3xf32>
      %8 = stablehlo.reduce(%7 init: %cst_2) applies stablehlo.maximum across dimensions = [1] : (tensor<1x3xf32>, tensor<f32>) -> tensor<1xf32>
      %9 = stablehlo.broadcast_in_dim %8, dims = [0] : (tensor<1xf32>) -> tensor<1x3xf32>
      %10 = stablehlo.subtract %7, %9 : tensor<1x3xf32>
      %11 = stablehlo.exponential %10 : tensor<1x3xf32>
      %12 = stablehlo.reduce(%11 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<1x3xf32>, tensor<f32>) -> tensor<1xf32>
      %13 = stablehlo.broadcast_in_dim %12, dims = [0] : (tensor<1xf32>) -> tensor<1x3xf32>
      %14 = stablehlo.divide %11, %13 : tensor<1x3xf32>
      %15 = stablehlo.dot_general %14, %x, contracting_dims = [1] x [0] : (tensor<1x3xf32>, tensor<3x2xf32>) -> tensor<1x2xf32>
      %16 = stablehlo.dynamic_update_slice %iterArg_4, %15, %iterArg, %c : (tensor<3x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<3x2xf32>
      %17 = stablehlo.add %iterArg, %c_0 : tensor<i32>
      stablehlo.return %17, %16 : tensor<i32>, tensor<3x2xf32>
    }
    return %0#1 : tensor<3x2xf32>
  }
}
)mlir";

// A program with open dims, and with regions, attributes and constants of most
// kinds.
constexpr char kMixed[] = R"mlir(
!row = tensor<?x3xf32>
#numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>
func.func @main(%x: !row, %i: tensor<2xi32>, %b: tensor<i1>) -> (tensor<2x3xf32>, tensor<?x3xf32>, tensor<3xf32>) {
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
  %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %c = stablehlo.constant dense<3> : tensor<1xi32>
  %shape = stablehlo.concatenate %n1, %c, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %bias = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %wide = stablehlo.dynamic_broadcast_in_dim %bias, %shape, dims = [1] : (tensor<3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
  %y = stablehlo.add %x, %wide : tensor<?x3xf32>
  %rows = "stablehlo.gather"(%y, %i) <{dimension_numbers = #numbers, slice_sizes = array<i64: 1, 3>, indices_are_sorted = false}> : (tensor<?x3xf32>, tensor<2xi32>) -> tensor<2x3xf32>
  %z = "stablehlo.if"(%b) ({
    %neg = stablehlo.negate %y : tensor<?x3xf32>
    stablehlo.return %neg : tensor<?x3xf32>
  }, {
    stablehlo.return %y : tensor<?x3xf32>
  }) : (tensor<i1>) -> tensor<?x3xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sums = stablehlo.reduce(%y init: %zero) across dimensions = [0] : (tensor<?x3xf32>, tensor<f32>) -> tensor<3xf32>
   reducer(%p: tensor<f32>, %q: tensor<f32>) {
    %d = stablehlo.subtract %p, %zero : tensor<f32>
    %s = stablehlo.add %d, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }
  return %rows, %z, %sums : tensor<2x3xf32>, tensor<?x3xf32>, tensor<3xf32>
}
)mlir";

// Bytecode that mlir-opt 19 wrote from a program in the generic form, in hex:
// the rows of x times (1, -2, 4), largest first, negated where b is false.
constexpr char kSorted[] =
    "4d4cef520d4d4c495231392e312e3700012d070105091701030f030507130511111519"
    "1d2125292d035939110137070b13130b0b0b0b0f130b0b0b0b130b3f130b331b0b0f0b"
    "0f130b050391011117070f0b130f0f1b027a021f05190105070d0303090b051b051d03"
    "010d0f01031303031517051f05210523052503031f2105272509190000803f000000c0"
    "00008040030325270529230b0311010000000000000003052b2d2f31052b110b05052d"
    "11070103033537052f23737461626c65686c6f3c636f6d70617269736f6e5f64697265"
    "6374696f6e2047543e001b05090d030b1b010701091b030d030102041b010305050105"
    "030104e705015001010704d7030105035001030704c3030f1b050109000903011d0309"
    "0b070123030103050d060103010501070f1701290301030907042b03070b0519190015"
    "070133030505010307040103051116010301030309030105070401030b030309130601"
    "0301030b070401030f050401030d060301050100c203312b15152b0d0f0b0521051b0f"
    "110f070b1323130f0f150b116275696c74696e0066756e6300737461626c65686c6f00"
    "6d6f64756c650072657475726e00636f6e7374616e740062726f6164636173745f696e"
    "5f64696d006d756c7469706c7900736f7274006966006e656761746500636f6d706172"
    "6500736f72746564006a61782e6172675f696e666f0078006a61782e726573756c745f"
    "696e666f0079006d61696e007075626c69630076616c75650062726f6164636173745f"
    "64696d656e73696f6e730064696d656e73696f6e0069735f737461626c6500636f6d70"
    "617269736f6e5f646972656374696f6e000815050507010b0b0f231937";

std::string BytesOfHex(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1]));
  return bytes;
}

constexpr std::string_view kNames[] = {"mlp", "cnn", "transformer", "mixed",
                                       "sorted"};

}  // namespace

std::span<const std::string_view> SampleModelNames() { return kNames; }

std::string SampleModel(std::string_view name) {
  if (name == "mlp") return kMlp;
  if (name == "cnn") return kCnn;
  if (name == "sorted") return BytesOfHex(kSorted);
  return name == "transformer" ? kTransformer : kMixed;
}

}  // namespace ember::stablehlo
