#include <algorithm>

#include "tests/random_models/recipe.h"

namespace ember::tests {
namespace {

using onnx::TensorProto;

// Adds a MatMul: [batch..., m, k] x [batch..., k, n]; either of them may be a
// vector.
bool MatMul(Builder& b, const Recipe& recipe) {
  const Value x = b.Pick(b.opset() >= 9 ? "fffffdhil" : "fd", 1, 4);
  const int64_t k = x.dims().back();
  Dims dims;
  if (!b.random().Chance(0.15)) {
    if (x.rank() > 2 && b.random().Chance(0.5)) {
      dims.assign(x.dims().begin(), x.dims().end() - 2);
      for (int64_t& dim : dims)
        if (b.random().Chance(0.3)) dim = 1;
      if (b.random().Chance(0.3)) dims.erase(dims.begin());
    } else if (x.rank() == 2 && b.random().Chance(0.2)) {
      dims.push_back(b.random().Between(1, 4));
    }
    dims.push_back(k);
    dims.push_back(b.Extent());
  } else {
    dims.push_back(k);
  }
  b.Node("MatMul", {x.name, b.Operand(x.type, dims).name});
  return true;
}

bool Gemm(Builder& b, const Recipe& recipe) {
  const Value x = b.Pick("fffffdh", 2, 2);
  const bool ta = b.random().Chance(0.3), tb = b.random().Chance(0.5);
  const int64_t m = x.dims()[ta ? 1 : 0], k = x.dims()[ta ? 0 : 1],
                n = b.Extent();
  Names inputs = {x.name, b.Operand(x.type, tb ? Dims{n, k} : Dims{k, n}).name};
  Attributes attributes = {{"transA", ta ? 1 : 0}, {"transB", tb ? 1 : 0}};
  if (b.opset() < 11 || b.random().Chance(0.8)) {
    static const int kForms = 5;
    const Dims forms[kForms] = {{n}, {m, n}, {1, n}, {m, 1}, {}};
    const Dims& dims =
        forms[b.random().Between(0, b.opset() >= 7 ? kForms - 1 : 1)];
    if (b.opset() < 7) return false;
    inputs.push_back(b.Operand(x.type, dims).name);
  }
  if (b.random().Chance(0.4))
    attributes.emplace_back("alpha", b.random().Real(0.2, 2));
  if (b.random().Chance(0.4)) {
    const double beta = b.random().Real(0.2, 2);
    // `beta` is not set if the product sums over an extent of 0, because ONNX
    // Runtime ignores `beta` in that case.
    if (k > 0) attributes.emplace_back("beta", beta);
  }
  if (!recipe.domain.empty() && recipe.name == "FusedGemm") {
    attributes.emplace_back(
        "activation", b.random()
                          .Pick(std::vector<std::string>{"Relu", "LeakyRelu",
                                                         "Tanh", "Sigmoid"})
                          .c_str());
  }
  b.Node(std::string(recipe.name), inputs, attributes,
         std::string(recipe.domain));
  return true;
}

// Adds an Einsum with a random equation of one to three operands.
bool Einsum(Builder& b, const Recipe& recipe) {
  const std::string letters = "abcdefg";
  std::vector<int64_t> extents;
  for (size_t i = 0; i < letters.size(); ++i)
    extents.push_back(b.random().Between(1, 6));
  const int64_t count = b.random().Between(1, 3);
  std::string equation, used;
  Names inputs;
  const int32_t type = b.Type("ffffdil");
  for (int64_t i = 0; i < count; ++i) {
    std::string term;
    Dims dims;
    for (int64_t rank = b.random().Between(i == 0 ? 1 : 0, 3); rank > 0;
         --rank) {
      const auto letter = static_cast<size_t>(b.random().Between(0, 4));
      if (term.find(letters[letter]) != std::string::npos &&
          !b.random().Chance(0.3))
        continue;
      term += letters[letter];
      dims.push_back(extents[letter]);
    }
    equation += (i > 0 ? "," : "") + term;
    used += term;
    inputs.push_back(b.Operand(type, dims).name);
  }
  if (b.random().Chance(0.9)) {
    std::vector<char> result;
    for (const char letter : letters)
      if (used.find(letter) != std::string::npos && b.random().Chance(0.6))
        result.push_back(letter);
    b.random().Shuffle(result);
    equation += "->" + std::string(result.begin(), result.end());
  }
  b.Node("Einsum", inputs, {{"equation", equation.c_str()}});
  return true;
}

// Random window attributes (kernel, strides, pads …) that convolutions and
// pools have in common.
struct Window {
  int64_t rank = 2;
  Dims spatial, kernel, strides, dilations, pads;
  Attributes attributes;
};

Window DrawWindow(Builder& b, const Dims& spatial, bool has_dilations) {
  Window window;
  window.rank = static_cast<int64_t>(spatial.size());
  window.spatial = spatial;
  for (const int64_t extent : spatial) {
    const int64_t kernel =
        std::min(b.random().Between(1, b.random().Chance(0.1) ? 7 : 3), extent);
    window.kernel.push_back(kernel);
    window.strides.push_back(b.random().Chance(0.6) ? 1
                                                    : b.random().Between(2, 3));
    const bool fits = (kernel - 1) * 2 + 1 <= extent;
    window.dilations.push_back(
        has_dilations && fits && b.random().Chance(0.2) ? 2 : 1);
  }
  for (int side = 0; side < 2; ++side)
    for (const int64_t kernel : window.kernel)
      window.pads.push_back(b.random().Chance(0.5)
                                ? (kernel - 1) / 2
                                : b.random().Between(0, kernel - 1));
  if (b.random().Chance(0.7))
    window.attributes.emplace_back("strides", window.strides);
  if (has_dilations && b.random().Chance(0.5))
    window.attributes.emplace_back("dilations", window.dilations);
  // auto_pad is not drawn if a stride is larger than the window: with "same"
  // ONNX Runtime then cuts off the image's edge.
  const bool is_wide = !std::equal(window.strides.begin(), window.strides.end(),
                                   window.kernel.begin(), std::less_equal<>());
  if (!is_wide && b.random().Chance(0.25)) {
    static const auto* const kPads =
        new std::vector<std::string>{"SAME_UPPER", "SAME_LOWER", "VALID"};
    // Dilations are removed from pools with auto_pad "same", because ONNX
    // Runtime ignores them there.
    std::erase_if(window.attributes, [](const onnx::TestAttribute& attribute) {
      return attribute.name == "dilations";
    });
    window.attributes.emplace_back("auto_pad", b.random().Pick(*kPads).c_str());
  } else if (b.random().Chance(0.7)) {
    window.attributes.emplace_back("pads", window.pads);
  }
  return window;
}

Dims Append(Dims dims, const Dims& more) {
  dims.insert(dims.end(), more.begin(), more.end());
  return dims;
}

// Returns an operand for a convolution or pool: rank 3 to 5, with batch and
// channels as the first two dims.
Value PickImage(Builder& b, std::string_view letters) {
  if (b.random().Chance(0.5)) {
    const Value x = b.Pick(letters, 3, b.random().Chance(0.8) ? 4 : 5);
    const bool is_fair =
        x.count() > 0 && x.dims()[1] <= 64 && x.dims()[0] <= 16;
    if (is_fair) return x;
  }
  static constexpr int64_t kChannels[] = {1, 2, 3, 4, 6, 8, 12, 16, 17, 32, 64};
  const int64_t rank = b.random().Chance(0.75)  ? 2
                       : b.random().Chance(0.8) ? 1
                                                : 3;
  Dims dims = {b.random().Chance(0.7) ? 1 : b.random().Between(2, 3),
               kChannels[b.random().Between(0, 10)]};
  for (int64_t i = 0; i < rank; ++i)
    dims.push_back(b.random().Between(1, rank == 3                ? 6
                                         : rank == 1              ? 40
                                         : b.random().Chance(0.2) ? 28
                                                                  : 12));
  return b.Operand(b.Type(letters), dims);
}

int64_t Divisor(Builder& b, int64_t number) {
  if (b.random().Chance(0.6)) return 1;
  if (b.random().Chance(0.4)) return number;
  std::vector<int64_t> divisors;
  for (int64_t d = 1; d <= number; ++d)
    if (number % d == 0) divisors.push_back(d);
  return b.random().Pick(divisors);
}

int64_t OutChannels(Builder& b, int64_t groups) {
  static constexpr int64_t kEach[] = {1, 1, 2, 3, 4, 5, 8, 16, 20};
  const int64_t each = kEach[b.random().Between(0, groups > 4 ? 3 : 8)];
  return groups * each;
}

bool Conv(Builder& b, const Recipe& recipe) {
  const Value x = PickImage(b, recipe.domain.empty() ? "fffffffhd" : "f");
  const int64_t c = x.dims()[1], groups = Divisor(b, c);
  const Window window =
      DrawWindow(b, Dims(x.dims().begin() + 2, x.dims().end()), true);
  const int64_t m = OutChannels(b, groups);
  Names inputs = {
      x.name,
      b.Operand(x.type, Append({m, c / groups}, window.kernel), {-1, 1}).name};
  if (b.random().Chance(0.6)) inputs.push_back(b.Operand(x.type, {m}).name);
  Attributes attributes = window.attributes;
  if (groups > 1 || b.random().Chance(0.3))
    attributes.emplace_back("group", static_cast<int>(groups));
  if (b.random().Chance(0.5))
    attributes.emplace_back("kernel_shape", window.kernel);
  if (recipe.name == "FusedConv") {
    static const auto* const kActivations =
        new std::vector<std::string>{"Relu", "Tanh", "Sigmoid"};
    attributes.emplace_back("activation",
                            b.random().Pick(*kActivations).c_str());
  }
  b.Node(std::string(recipe.name), inputs, attributes,
         std::string(recipe.domain));
  return true;
}

bool ConvTranspose(Builder& b, const Recipe& recipe) {
  const Value x = PickImage(b, "ffff");
  const int64_t c = x.dims()[1], groups = Divisor(b, c);
  Dims kernel, strides, pads, extra, dilations;
  for (int64_t i = 2; i < x.rank(); ++i) {
    kernel.push_back(b.random().Between(1, 4));
    strides.push_back(b.random().Between(1, 3));
    dilations.push_back(b.random().Chance(0.8) ? 1 : 2);
    extra.push_back(b.random().Chance(0.7) ? 0 : strides.back() - 1);
  }
  for (int side = 0; side < 2; ++side)
    for (const int64_t extent : kernel)
      pads.push_back(
          b.random().Chance(0.5) ? 0 : b.random().Between(0, (extent - 1) / 2));
  const int64_t each = OutChannels(b, 1);
  Names inputs = {x.name,
                  b.Operand(x.type, Append({c, each}, kernel), {-1, 1}).name};
  if (b.random().Chance(0.6))
    inputs.push_back(b.Operand(x.type, {each * groups}).name);
  Attributes attributes = {{"strides", strides},
                           {"group", static_cast<int>(groups)}};
  if (b.random().Chance(0.3)) attributes.emplace_back("dilations", dilations);
  if (b.random().Chance(0.3)) attributes.emplace_back("output_padding", extra);
  // auto_pad is drawn only for strides of 1. For larger strides "same" means
  // different result extents: the operand's in ONNX Runtime, and these times
  // the strides in ONNX.
  const bool is_dense = std::all_of(strides.begin(), strides.end(),
                                    [](int64_t stride) { return stride == 1; });
  if (is_dense && b.random().Chance(0.3)) {
    attributes.emplace_back(
        "auto_pad", b.random().Chance(0.5) ? "SAME_UPPER" : "SAME_LOWER");
  } else if (b.random().Chance(0.7)) {
    attributes.emplace_back("pads", pads);
  }
  b.Node("ConvTranspose", inputs, attributes);
  return true;
}

bool DeformConv(Builder& b, const Recipe& recipe) {
  const int64_t c = b.random().Between(1, 4), h = b.random().Between(3, 7),
                w = b.random().Between(3, 7);
  const Value x = b.Operand(TensorProto::FLOAT, {1, c, h, w});
  const int64_t m = b.random().Between(1, 4), kh = b.random().Between(1, 3),
                kw = b.random().Between(1, 3);
  const Value filter = b.Operand(TensorProto::FLOAT, {m, c, kh, kw});
  const Value offset =
      b.Operand(TensorProto::FLOAT, {1, 2 * kh * kw, h - kh + 1, w - kw + 1},
                {-1.5, 1.5, false});
  Names inputs = {x.name, filter.name, offset.name};
  if (b.random().Chance(0.5)) {
    inputs.push_back(
        b.random().Chance(0.5) ? b.Operand(TensorProto::FLOAT, {m}).name : "");
    inputs.push_back(b.Operand(TensorProto::FLOAT,
                               {1, kh * kw, h - kh + 1, w - kw + 1},
                               {0, 1, false})
                         .name);
  }
  b.Node("DeformConv", inputs,
         {{"kernel_shape", std::vector<int64_t>{kh, kw}}});
  return true;
}

bool Pool(Builder& b, const Recipe& recipe) {
  const bool is_average = recipe.name == "AveragePool",
             is_max = recipe.name == "MaxPool";
  const Value x = PickImage(b, is_max && b.opset() >= 12 ? "ffffdCc" : "ffffh");
  const bool has_dilations =
      (is_max && b.opset() >= 10) || b.opset() >= (is_average ? 19 : 18);
  const Window window =
      DrawWindow(b, Dims(x.dims().begin() + 2, x.dims().end()), has_dilations);
  Attributes attributes = window.attributes;
  attributes.emplace_back("kernel_shape", window.kernel);
  if (is_average && b.opset() >= 7 && b.random().Chance(0.5))
    attributes.emplace_back("count_include_pad", 1);
  if (b.random().Chance(0.25) &&
      b.opset() >= (recipe.name == "LpPool" ? 18 : 10))
    attributes.emplace_back("ceil_mode", 1);
  if (recipe.name == "LpPool" && b.random().Chance(0.7))
    attributes.emplace_back("p", static_cast<int>(b.random().Between(1, 3)));
  const bool has_indices = is_max && b.opset() >= 8 &&
                           x.type != TensorProto::FLOAT16 &&
                           b.random().Chance(0.3);
  b.Nodes(std::string(recipe.name), {x.name}, has_indices ? 2 : 1, attributes);
  return true;
}

bool GlobalPool(Builder& b, const Recipe& recipe) {
  const Value x = PickImage(b, "fffh");
  Attributes attributes;
  if (recipe.name == "GlobalLpPool" && b.random().Chance(0.5))
    attributes.emplace_back("p", static_cast<int>(b.random().Between(1, 3)));
  b.Node(std::string(recipe.name), {x.name}, attributes);
  return true;
}

bool MaxUnpool(Builder& b, const Recipe& recipe) {
  const Value x = b.Operand(TensorProto::FLOAT, {1, b.random().Between(1, 3),
                                                 b.random().Between(1, 4) * 2,
                                                 b.random().Between(1, 4) * 2});
  const Dims two = {2, 2};
  const Names pooled = b.Nodes("MaxPool", {x.name}, 2,
                               {{"kernel_shape", two}, {"strides", two}});
  b.Node("MaxUnpool", pooled, {{"kernel_shape", two}, {"strides", two}});
  return true;
}

bool Col2Im(Builder& b, const Recipe& recipe) {
  const int64_t h = b.random().Between(3, 8), w = b.random().Between(3, 8),
                kh = b.random().Between(1, 3), kw = b.random().Between(1, 3);
  const int64_t n = b.random().Between(1, 2), c = b.random().Between(1, 3);
  const Value x = b.Operand(TensorProto::FLOAT,
                            {n, c * kh * kw, (h - kh + 1) * (w - kw + 1)});
  b.Node("Col2Im", {x.name, b.Integers({h, w}), b.Integers({kh, kw})});
  return true;
}

bool Resize(Builder& b, const Recipe& recipe) {
  static const auto* const kTransforms = new std::vector<std::string>{
      "half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"};
  const Value x = b.Operand(
      b.Type("fffff"), {b.random().Between(1, 2), b.random().Between(1, 4),
                        b.random().Between(1, 9), b.random().Between(1, 9)});
  const std::string mode =
      b.random().Pick(std::vector<std::string>{"nearest", "linear", "cubic"});
  const std::string transform = b.random().Pick(*kTransforms);
  // Aligned corners multiply extents by scales, and ONNX Runtime truncates the
  // products to whole numbers.
  const auto scale = [&] {
    return transform == "align_corners"
               ? static_cast<double>(b.random().Between(1, 3))
               : b.random().Pick(std::vector<double>{0.5, 1, 1.5, 2, 2, 3});
  };
  const double h = scale(), w = scale();
  auto scales = vm::Tensor::Allocate(DType::kF32, {4});
  const double values[] = {1, 1, h, w};
  for (int i = 0; i < 4; ++i)
    scales->elements<float>()[static_cast<size_t>(i)] =
        static_cast<float>(values[i]);
  if (recipe.name == "Upsample") {
    if (h < 1 || w < 1 || mode == "cubic") return false;
    b.Node("Upsample", {x.name, b.Constant(*scales)}, {{"mode", mode.c_str()}});
    return true;
  }
  if (b.opset() == 10) {
    if (mode == "cubic") return false;
    b.Node("Resize", {x.name, b.Constant(*scales)}, {{"mode", mode.c_str()}});
    return true;
  }
  Attributes attributes = {
      {"mode", mode.c_str()},
      {"coordinate_transformation_mode", transform.c_str()}};
  if (mode == "nearest")
    attributes.emplace_back(
        "nearest_mode",
        b.random()
            .Pick(std::vector<std::string>{
                "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})
            .c_str());
  if (mode == "cubic" && b.random().Chance(0.5))
    attributes.emplace_back("cubic_coeff_a", -0.5);
  if (mode == "cubic" && b.random().Chance(0.3))
    attributes.emplace_back("exclude_outside", 1);
  if (mode != "nearest" && b.opset() >= 18 && b.random().Chance(0.3))
    attributes.emplace_back("antialias", 1);
  const std::string roi =
      b.opset() >= 13 ? ""
                      : b.Constant(*vm::Tensor::Allocate(DType::kF32, {0}));
  if (b.random().Chance(0.6)) {
    b.Node("Resize", {x.name, roi, b.Constant(*scales)}, attributes);
  } else {
    Dims sizes = x.dims();
    sizes[2] = b.random().Between(1, 16);
    sizes[3] = b.random().Between(1, 16);
    const std::string no_scales =
        b.opset() >= 13 ? ""
                        : b.Constant(*vm::Tensor::Allocate(DType::kF32, {0}));
    b.Node("Resize", {x.name, roi, no_scales, b.Integers(sizes)}, attributes);
  }
  return true;
}

bool GridSample(Builder& b, const Recipe& recipe) {
  const Value x = b.Operand(
      TensorProto::FLOAT, {b.random().Between(1, 2), b.random().Between(1, 3),
                           b.random().Between(1, 6), b.random().Between(1, 6)});
  const Value grid = b.Operand(
      TensorProto::FLOAT,
      {x.dims()[0], b.random().Between(1, 5), b.random().Between(1, 5), 2},
      {-1.2, 1.2, false});
  static const auto* const kModes =
      new std::vector<std::string>{"linear", "nearest", "cubic"};
  static const auto* const kOldModes =
      new std::vector<std::string>{"bilinear", "nearest", "bicubic"};
  static const auto* const kPads =
      new std::vector<std::string>{"zeros", "border", "reflection"};
  const bool is_old = b.opset() < 20 || !recipe.domain.empty();
  const std::string mode = b.random().Pick(is_old ? *kOldModes : *kModes);
  const std::string padding = b.random().Pick(*kPads);
  b.Node("GridSample", {x.name, grid.name},
         {{"mode", mode.c_str()},
          {"padding_mode", padding.c_str()},
          {"align_corners", b.random().Chance(0.5) ? 1 : 0}},
         std::string(recipe.domain));
  return true;
}

bool AffineGrid(Builder& b, const Recipe& recipe) {
  const bool is_flat = b.random().Chance(0.7);
  // Results of one point are not drawn, because for them ONNX's own code
  // computes 0 / 0 with aligned corners.
  Dims sizes = {b.random().Between(1, 2), 2, b.random().Between(2, 5),
                b.random().Between(2, 5)};
  if (!is_flat) sizes.push_back(b.random().Between(2, 4));
  const Value theta =
      b.Operand(TensorProto::FLOAT,
                is_flat ? Dims{sizes[0], 2, 3} : Dims{sizes[0], 3, 4});
  b.Node("AffineGrid", {theta.name, b.Integers(sizes)},
         {{"align_corners", b.random().Chance(0.5) ? 1 : 0}});
  return true;
}

bool RoiAlign(Builder& b, const Recipe& recipe) {
  const Value x = b.Operand(
      TensorProto::FLOAT, {2, b.random().Between(1, 3),
                           b.random().Between(3, 8), b.random().Between(3, 8)});
  const int64_t count = b.random().Between(1, 4);
  // The first corner of a region must not be beyond its second corner.
  const std::string low =
      b.Operand(TensorProto::FLOAT, {count, 2}, {0, 3, false}).name;
  const std::string size =
      b.Operand(TensorProto::FLOAT, {count, 2}, {1, 4, false}).name;
  const std::string high = b.Node("Add", {low, size});
  const std::string rois = b.Node("Concat", {low, high}, {{"axis", 1}});
  const std::string batch =
      b.Operand(TensorProto::INT64, {count}, {0, 1, false}).name;
  Attributes attributes = {
      {"output_height", static_cast<int>(b.random().Between(1, 3))},
      {"output_width", static_cast<int>(b.random().Between(1, 3))},
      {"sampling_ratio", static_cast<int>(b.random().Between(0, 2))},
      {"mode", b.random().Chance(0.7) ? "avg" : "max"}};
  if (b.opset() >= 16)
    attributes.emplace_back(
        "coordinate_transformation_mode",
        b.random().Chance(0.5) ? "half_pixel" : "output_half_pixel");
  b.Node("RoiAlign", {x.name, rois, batch}, attributes);
  return true;
}

// NOLINTNEXTLINE(cert-err58-cpp)
const Recipe kRows[] = {
    {"", "Einsum", Einsum},
    {"", "Gemm", Gemm, 7},
    {"", "MatMul", MatMul},
    {"", "MatMul", MatMul},
    {"", "MatMulInteger", "cC", "T[..,m,k] T[k,n]"},
    {"com.microsoft", "FusedGemm", Gemm, 11},
    {"com.microsoft", "FusedMatMul", "f",
     "T[..,m,k] T[..,n,k] transB=1 alpha=0.5..2.0"},
    {"com.microsoft", "GemmFastGelu", "f", "T[m,k] T[k,n] T[n]?"},
    {"com.microsoft", "MatMulInteger16", "s", "T[m,k] T[k,n]"},
    {"com.microsoft", "TransposeMatMul", "f", "T[..,k,m] T[..,k,n] transA=1"},
};

// NOLINTNEXTLINE(cert-err58-cpp)
const Recipe kWindowRows[] = {
    {"", "AffineGrid", AffineGrid},
    {"", "AveragePool", Pool},
    {"", "CausalConvWithState", "f", "T[n,c,l] T[c,1,k] group=c", 2, 27},
    {"", "Col2Im", Col2Im},
    {"", "Conv", Conv},
    {"", "Conv", Conv},
    {"", "ConvTranspose", ConvTranspose},
    {"", "Crop", "f", "T[n,c,6,7] border=1,0,2,1", 1, 1, 9},
    {"", "DeformConv", DeformConv},
    {"", "GlobalAveragePool", GlobalPool},
    {"", "GlobalLpPool", GlobalPool},
    {"", "GlobalMaxPool", GlobalPool},
    {"", "GridSample", GridSample},
    {"", "LpPool", Pool},
    {"", "MaxPool", Pool},
    {"", "MaxRoiPool", "f", "T[1,c,6,6] T[k,5]{0,0} pooled_shape=2,2"},
    {"", "MaxUnpool", MaxUnpool, 11},
    {"", "Resize", Resize},
    {"", "RoiAlign", RoiAlign},
    {"", "Upsample", Resize, 9, 9},
    {"com.microsoft", "CausalConvWithState", "f", "T[n,c,l] T[c,1,k] T[c]?", 2},
    {"com.microsoft", "ConvTransposeWithDynamicPads", "f",
     "T[n,c,h,w] T[c,m,2,2]"},
    {"com.microsoft", "FusedConv", Conv},
    {"com.microsoft", "GridSample", GridSample},
};

}  // namespace

std::span<const Recipe> ContractionRecipes() { return kRows; }
std::span<const Recipe> WindowRecipes() { return kWindowRows; }

}  // namespace ember::tests
