#include <algorithm>
#include <numeric>

#include "tests/random_models/recipe.h"

namespace ember::tests {
namespace {

using onnx::TensorProto;

constexpr std::string_view kMoved = "fffdhilcCS?t";

Dims Factored(Builder& b, int64_t count) {
  Dims dims;
  for (int64_t i = b.random().Between(0, 3); i > 0; --i) {
    std::vector<int64_t> divisors;
    for (int64_t d = 1; d <= std::min<int64_t>(count, 100); ++d)
      if (count % d == 0) divisors.push_back(d);
    dims.push_back(b.random().Pick(divisors));
    count /= dims.back();
  }
  dims.push_back(count);
  b.random().Shuffle(dims);
  return dims;
}

bool Reshape(Builder& b, const Recipe& recipe) {
  const Value x = b.Pick(kMoved);
  if (x.count() == 0) return false;
  Dims dims = Factored(b, x.count());
  if (b.random().Chance(0.3))
    dims[static_cast<size_t>(
        b.random().Between(0, static_cast<int64_t>(dims.size()) - 1))] = -1;
  for (size_t i = 0; i < dims.size() && i < x.dims().size(); ++i)
    if (dims[i] == x.dims()[i] && b.random().Chance(0.3)) dims[i] = 0;
  b.Node("Reshape", {x.name, b.Integers(dims)});
  return true;
}

bool Transpose(Builder& b, const Recipe& recipe) {
  const Value x = b.Pick(kMoved, 1, 5);
  std::vector<int64_t> permutation(static_cast<size_t>(x.rank()));
  std::iota(permutation.begin(), permutation.end(), 0);
  b.random().Shuffle(permutation);
  Attributes attributes;
  if (b.random().Chance(0.9)) attributes.emplace_back("perm", permutation);
  b.Node("Transpose", {x.name}, attributes);
  return true;
}

bool SqueezeOrUnsqueeze(Builder& b, const Recipe& recipe) {
  const Value x = b.Pick(kMoved, 0, 4);
  std::vector<int64_t> axes;
  if (recipe.name == "Squeeze") {
    for (int64_t i = 0; i < x.rank(); ++i)
      if (x.dims()[static_cast<size_t>(i)] == 1 && b.random().Chance(0.8))
        axes.push_back(
            i - (b.opset() >= 11 && b.random().Chance(0.3) ? x.rank() : 0));
    if (axes.empty()) return false;
  } else {
    const int64_t count = b.random().Between(1, 2), rank = x.rank() + count;
    axes = {b.random().Between(0, rank - 1)};
    if (count == 2) axes.push_back((axes[0] + 1) % rank);
    std::sort(axes.begin(), axes.end());
    if (b.opset() >= 11 && b.random().Chance(0.3)) axes[0] -= rank;
  }
  if (b.opset() < 13) {
    b.Node(std::string(recipe.name), {x.name}, {{"axes", axes}});
  } else {
    b.Node(std::string(recipe.name), {x.name, b.Integers(axes)});
  }
  return true;
}

bool Concat(Builder& b, const Recipe& recipe) {
  const Value x = b.Pick(kMoved, 1, 4);
  const int axis = b.Axis(x);
  Names inputs = {x.name};
  for (int64_t i = b.random().Between(0, 3); i > 0; --i) {
    Dims dims = x.dims();
    dims[static_cast<size_t>((axis + x.rank()) % x.rank())] =
        b.random().Between(b.random().Chance(0.05) ? 0 : 1, 5);
    inputs.push_back(b.Operand(x.type, dims).name);
  }
  b.random().Shuffle(inputs);
  b.Node("Concat", inputs, {{"axis", axis}});
  return true;
}

bool Expand(Builder& b, const Recipe& recipe) {
  const Value x = b.Pick("fffdilh?", 0, 4);
  Dims dims = x.dims();
  for (int64_t& dim : dims) {
    if (dim == 1 && b.random().Chance(0.6)) {
      dim = b.random().Between(1, 6);
    } else if (b.random().Chance(0.2)) {
      // The shape may have a 1 where the operand has more: Expand broadcasts in
      // both directions.
      dim = 1;
    }
  }
  if (b.random().Chance(0.3))
    dims.insert(dims.begin(), b.random().Between(1, 4));
  if (x.count() > 4096) return false;
  b.Node("Expand", {x.name, b.Integers(dims)});
  return true;
}

bool Tile(Builder& b, const Recipe& recipe) {
  const Value x = b.Pick("fffdil?", 1, 4);
  if (x.count() > 1024) return false;
  Dims repeats;
  for (int64_t i = 0; i < x.rank(); ++i)
    repeats.push_back(b.random().Chance(0.05) ? 0 : b.random().Between(1, 3));
  b.Node("Tile", {x.name, b.Integers(repeats)});
  return true;
}

bool Slice(Builder& b, const Recipe& recipe) {
  const Value x = b.Pick(kMoved, 1, 5);
  std::vector<int64_t> starts, ends, axes, steps;
  for (int64_t i = 0; i < x.rank(); ++i) {
    if (!b.random().Chance(0.5)) continue;
    const int64_t extent = x.dims()[static_cast<size_t>(i)];
    int64_t start = b.random().Between(0, std::max<int64_t>(extent - 1, 0));
    int64_t end =
        b.random().Between(start + (b.random().Chance(0.05) ? 0 : 1), extent);
    int64_t step = 1;
    if (b.opset() >= 10 && b.random().Chance(0.4))
      step = b.random().Between(2, 3);
    if (b.opset() >= 10 && b.random().Chance(0.2)) {
      step = -step;
      std::swap(start, end);
      if (end == 0) end = -extent - 1;
    }
    if (b.random().Chance(0.2) && start > 0) start -= extent;
    if (b.random().Chance(0.2)) end = step > 0 ? INT64_MAX : INT64_MIN;
    axes.push_back(i);
    starts.push_back(start);
    ends.push_back(end);
    steps.push_back(step);
  }
  if (axes.empty()) return false;
  if (b.opset() < 10 && recipe.name == "Slice") {
    b.Node("Slice", {x.name},
           {{"starts", starts}, {"ends", ends}, {"axes", axes}});
    return true;
  }
  const bool all = static_cast<int64_t>(axes.size()) == x.rank();
  Names inputs = {x.name, b.Integers(starts), b.Integers(ends)};
  if (!all || b.random().Chance(0.6)) inputs.push_back(b.Integers(axes));
  if (b.opset() >= 10 && std::any_of(steps.begin(), steps.end(),
                                     [](int64_t s) { return s != 1; })) {
    if (inputs.size() == 3) inputs.emplace_back();
    inputs.push_back(b.Integers(steps));
  }
  b.Node(std::string(recipe.name), inputs);
  return true;
}

bool Split(Builder& b, const Recipe& recipe) {
  const Value x = b.Pick("fffdhilC", 1, 4);
  const int axis = b.Axis(x);
  const int64_t extent =
      x.dims()[static_cast<size_t>((axis + x.rank()) % x.rank())];
  const int64_t parts = b.random().Between(1, std::min<int64_t>(extent, 4));
  if (extent < 1) return false;
  std::vector<int64_t> sizes(static_cast<size_t>(parts), 1);
  for (int64_t left = extent - parts; left > 0; --left)
    ++sizes[static_cast<size_t>(b.random().Between(0, parts - 1))];
  Attributes attributes = {{"axis", axis}};
  Names inputs = {x.name};
  const bool is_equal = extent % parts == 0 && b.random().Chance(0.5);
  if (b.opset() >= 13 && !is_equal) inputs.push_back(b.Integers(sizes));
  if (b.opset() < 13 && !is_equal) attributes.emplace_back("split", sizes);
  if (b.opset() >= 18 && is_equal)
    attributes.emplace_back("num_outputs", static_cast<int>(parts));
  b.Nodes("Split", inputs, static_cast<int>(parts), attributes);
  return true;
}

bool Pad(Builder& b, const Recipe& recipe) {
  static const auto* const kModes = new std::vector<std::string>{
      "constant", "constant", "reflect", "edge", "wrap"};
  const bool is_contrib = !recipe.domain.empty();
  const Value x = b.Pick(b.opset() < 11 ? "f" : "fffdil", 1, 4);
  std::string mode = b.random().Pick(*kModes);
  if ((b.opset() < 19 || is_contrib) && mode == "wrap") mode = "constant";
  std::vector<int64_t> low, high;
  for (const int64_t extent : x.dims()) {
    const int64_t most =
        mode == "constant" ? 3 : std::min<int64_t>(extent - 1, 3);
    low.push_back(b.random().Chance(0.5) ? 0 : b.random().Between(0, most));
    high.push_back(b.random().Chance(0.5) ? 0 : b.random().Between(0, most));
    // Negative padding, which cuts elements off, is drawn sometimes.
    if (mode == "constant" && extent > 4 && b.random().Chance(0.1))
      low.back() = -1;
    if (extent == 0 && mode != "constant") return false;
  }
  Attributes attributes = {{"mode", mode.c_str()}};
  Names inputs = {x.name};
  std::vector<int64_t> axes;
  if (b.opset() >= 18 && !is_contrib && b.random().Chance(0.3)) {
    for (int64_t i = 0; i < x.rank(); ++i)
      if (b.random().Chance(0.6)) axes.push_back(i);
    if (axes.empty()) axes.push_back(x.rank() - 1);
    std::vector<int64_t> some_low, some_high;
    for (const int64_t axis : axes) {
      some_low.push_back(low[static_cast<size_t>(axis)]);
      some_high.push_back(high[static_cast<size_t>(axis)]);
    }
    low = some_low;
    high = some_high;
  }
  std::vector<int64_t> pads = low;
  pads.insert(pads.end(), high.begin(), high.end());
  if (b.opset() < 11 && !is_contrib) {
    attributes.emplace_back("pads", pads);
    if (mode == "constant") attributes.emplace_back("value", 1.5);
  } else {
    inputs.push_back(b.Integers(pads));
    if (mode == "constant" && b.random().Chance(0.6)) {
      inputs.push_back(b.Operand(x.type, {}).name);
    }
    if (!axes.empty()) {
      if (inputs.size() == 2) inputs.emplace_back();
      inputs.push_back(b.Integers(axes));
    }
  }
  b.Node("Pad", inputs, attributes, std::string(recipe.domain));
  return true;
}

bool CenterCropPad(Builder& b, const Recipe& recipe) {
  const Value x = b.Pick("fil", 1, 4);
  Dims dims;
  for (int64_t i = 0; i < x.rank(); ++i)
    dims.push_back(b.random().Between(1, 12));
  b.Node("CenterCropPad", {x.name, b.Integers(dims)});
  return true;
}

bool DepthSpace(Builder& b, const Recipe& recipe) {
  const int64_t block = b.random().Between(1, 3), c = b.random().Between(1, 5);
  const int64_t h = b.random().Between(1, 5), w = b.random().Between(1, 5);
  const bool to_space = recipe.name == "DepthToSpace";
  const Value x = b.Operand(
      b.Type("ffd"),
      to_space ? Dims{b.random().Between(1, 2), c * block * block, h, w}
               : Dims{b.random().Between(1, 2), c, h * block, w * block});
  Attributes attributes = {{"blocksize", static_cast<int>(block)}};
  if (to_space && b.opset() >= 11)
    attributes.emplace_back("mode", b.random().Chance(0.5) ? "DCR" : "CRD");
  b.Node(std::string(recipe.name), {x.name}, attributes);
  return true;
}

bool Shape(Builder& b, const Recipe& recipe) {
  const Value x = b.Pick(kMoved);
  Attributes attributes;
  if (b.opset() >= 15 && b.random().Chance(0.4)) {
    attributes.emplace_back(
        "start", static_cast<int>(b.random().Between(-x.rank(), x.rank())));
    if (b.random().Chance(0.5))
      attributes.emplace_back(
          "end", static_cast<int>(b.random().Between(-x.rank(), x.rank())));
  }
  const std::string shape = b.Node("Shape", {x.name}, attributes);
  if (b.random().Chance(0.6) && attributes.empty() && x.count() > 0 &&
      x.rank() > 0) {
    // The shape is used to compute another value's shape, as exporters do.
    const Value y = b.Pick("f", 1, 4);
    if (y.count() == x.count()) {
      b.Node("Reshape", {y.name, shape});
    } else {
      const std::string one = b.Node("Gather", {shape, b.Integers({0})});
      b.Node("Concat", {one, b.Integers({-1})}, {{"axis", 0}});
    }
  }
  return true;
}

bool ConstantOfShape(Builder& b, const Recipe& recipe) {
  const Value like = b.Pick("fil", 0, 4);
  const std::string shape = b.random().Chance(0.5)
                                ? b.Node("Shape", {like.name})
                                : b.Integers(b.Shape(b.random().Between(1, 3)));
  b.Node("ConstantOfShape", {shape});
  if (b.random().Chance(0.7)) {
    onnx::AttributeProto& attribute = *b.last().add_attribute();
    attribute.set_name("value");
    attribute.set_type(onnx::AttributeProto::TENSOR);
    TensorProto& tensor = *attribute.mutable_t();
    tensor.add_dims(1);
    if (b.random().Chance(0.5)) {
      tensor.set_data_type(TensorProto::FLOAT);
      tensor.add_float_data(1.25F);
    } else {
      tensor.set_data_type(TensorProto::INT64);
      tensor.add_int64_data(3);
    }
  }
  return true;
}

bool Constant(Builder& b, const Recipe& recipe) {
  b.Node("Constant", {});
  onnx::AttributeProto& attribute = *b.last().add_attribute();
  switch (b.random().Between(0, 3)) {
    case 0:
      attribute.set_name("value_ints");
      attribute.set_type(onnx::AttributeProto::INTS);
      for (int i = 0; i < 3; ++i) attribute.add_ints(b.random().Between(-3, 9));
      break;
    case 1:
      attribute.set_name("value_floats");
      attribute.set_type(onnx::AttributeProto::FLOATS);
      for (int i = 0; i < 4; ++i)
        attribute.add_floats(static_cast<float>(b.random().Real(-2, 2)));
      break;
    case 2:
      attribute.set_name("value_int");
      attribute.set_type(onnx::AttributeProto::INT);
      attribute.set_i(b.random().Between(-3, 9));
      break;
    default:
      attribute.set_name("value_float");
      attribute.set_type(onnx::AttributeProto::FLOAT);
      attribute.set_f(static_cast<float>(b.random().Real(-2, 2)));
  }
  return true;
}

bool EyeLike(Builder& b, const Recipe& recipe) {
  const Value x = b.Pick("fdil", 2, 2);
  Attributes attributes = {{"k", static_cast<int>(b.random().Between(-2, 2))}};
  if (b.random().Chance(0.4))
    attributes.emplace_back("dtype", static_cast<int>(b.Type("fdil")));
  b.Node("EyeLike", {x.name}, attributes);
  return true;
}

bool MakeRange(Builder& b, const Recipe& recipe) {
  const int32_t type = b.Type("fdil");
  const double start = static_cast<double>(b.random().Between(-3, 5));
  const double step =
      static_cast<double>(b.random().Chance(0.3) ? -b.random().Between(1, 3)
                                                 : b.random().Between(1, 3));
  const double limit =
      start + step * static_cast<double>(b.random().Between(
                         b.random().Chance(0.05) ? -1 : 1, 20));
  b.Node("Range",
         {b.Scalar(type, start), b.Scalar(type, limit), b.Scalar(type, step)},
         {}, std::string(recipe.domain));
  return true;
}

bool Trilu(Builder& b, const Recipe& recipe) {
  const Value x = b.Pick("ffdil", 2, 4);
  Names inputs = {x.name};
  if (b.random().Chance(0.6))
    inputs.push_back(b.Integer(b.random().Between(-3, 3)));
  b.Node("Trilu", inputs, {{"upper", b.random().Chance(0.5) ? 1 : 0}},
         std::string(recipe.domain));
  return true;
}

bool ExpandDims(Builder& b, const Recipe& recipe) {
  const Value x = b.Pick("fdil", 0, 3);
  b.Node("ExpandDims",
         {x.name, b.Integer(b.random().Between(-x.rank() - 1, x.rank()),
                            TensorProto::INT32)},
         {}, "com.microsoft");
  return true;
}

// NOLINTNEXTLINE(cert-err58-cpp)
const Recipe kRows[] = {
    {"", "CenterCropPad", CenterCropPad},
    {"", "Concat", Concat, 4},
    {"", "Constant", Constant, 12},
    {"", "ConstantOfShape", ConstantOfShape},
    {"", "DepthToSpace", DepthSpace},
    {"", "Expand", Expand},
    {"", "EyeLike", EyeLike},
    {"", "Flatten", "ffdil", "T[*1] axis=0..@r"},
    {"", "Identity", "ffdhilcC?t", "T[*]"},
    {"", "Pad", Pad},
    {"", "Range", MakeRange},
    {"", "Reshape", Reshape, 5},
    {"", "Shape", Shape},
    {"", "Size", "fdil?", "T[*]"},
    {"", "Slice", Slice},
    {"", "DynamicSlice", Slice, 1, 9},
    {"", "SpaceToDepth", DepthSpace},
    {"", "Split", Split},
    {"", "Squeeze", SqueezeOrUnsqueeze},
    {"", "Tile", Tile},
    {"", "Transpose", Transpose},
    {"", "Trilu", Trilu},
    {"", "Unsqueeze", SqueezeOrUnsqueeze},
    {"com.microsoft", "ExpandDims", ExpandDims},
    {"com.microsoft", "Pad", Pad, 11},
    {"com.microsoft", "Range", MakeRange},
    {"com.microsoft", "Trilu", Trilu},
    {"com.microsoft", "UnfoldTensor", "f",
     "T[n,c,12] dim=2 size=1..4 step=1..3"},
};

}  // namespace

std::span<const Recipe> MovementRecipes() { return kRows; }

}  // namespace ember::tests
