#include <algorithm>

#include "tests/random_models/recipe.h"

namespace ember::tests {
namespace {

using onnx::TensorProto;

constexpr std::string_view kMoved = "fffdhilcC?t";

Range Index(int64_t extent, Builder& b, int since = 11) {
  const double low = b.opset() >= since && b.random().Chance(0.4)
                         ? -static_cast<double>(extent)
                         : 0;
  return {low, static_cast<double>(extent - 1), false};
}

bool Gather(Builder& b, const Recipe& recipe) {
  const Value x = b.Pick(kMoved, 1, 4);
  const int axis = b.Axis(x);
  const int64_t extent =
      x.dims()[static_cast<size_t>((axis + x.rank()) % x.rank())];
  if (extent == 0 || x.count() > 8192) return false;
  // If strings are gathered by rows, ONNX Runtime copies only the first one of
  // a row, and leaves the others empty.
  const bool has_rows = (axis + x.rank()) % x.rank() != x.rank() - 1;
  if (x.type == TensorProto::STRING && has_rows) return false;
  Dims dims;
  for (int64_t i = b.random().Between(0, 2); i > 0; --i)
    dims.push_back(b.random().Between(1, 5));
  const Value indices = b.Operand(b.Type("lli"), dims, Index(extent, b));
  b.Node("Gather", {x.name, indices.name}, {{"axis", axis}});
  return true;
}

bool GatherElements(Builder& b, const Recipe& recipe) {
  const Value x = b.Pick(kMoved, 1, 4);
  const int axis = b.Axis(x);
  const auto at = static_cast<size_t>((axis + x.rank()) % x.rank());
  if (x.count() == 0) return false;
  Dims dims;
  for (const int64_t extent : x.dims())
    dims.push_back(b.random().Chance(0.6) ? extent
                                          : b.random().Between(1, extent));
  dims[at] = b.random().Between(1, 6);
  const Value indices = b.Operand(b.Type("lli"), dims, Index(x.dims()[at], b));
  b.Node("GatherElements", {x.name, indices.name}, {{"axis", axis}});
  return true;
}

bool GatherNd(Builder& b, const Recipe& recipe) {
  const Value x = b.Pick("fffdil?", 1, 4);
  if (x.count() == 0) return false;
  const int64_t batch = recipe.domain.empty() && b.opset() >= 12 &&
                                x.rank() > 1 && b.random().Chance(0.3)
                            ? 1
                            : 0;
  const int64_t depth = b.random().Between(1, x.rank() - batch);
  Dims dims(x.dims().begin(), x.dims().begin() + batch);
  if (b.random().Chance(0.7)) dims.push_back(b.random().Between(1, 5));
  dims.push_back(depth);
  const int64_t least = *std::min_element(x.dims().begin() + batch,
                                          x.dims().begin() + batch + depth);
  const Value indices = b.Operand(TensorProto::INT64, dims, Index(least, b));
  Attributes attributes;
  if (batch > 0) attributes.emplace_back("batch_dims", 1);
  b.Node("GatherND", {x.name, indices.name}, attributes,
         std::string(recipe.domain));
  return true;
}

// Adds a ScatterElements. Its indices are distinct unless a reduction makes
// their order irrelevant.
bool ScatterElements(Builder& b, const Recipe& recipe) {
  const Value x = b.Pick("fffdil", 1, 4);
  const int axis = b.Axis(x);
  const auto at = static_cast<size_t>((axis + x.rank()) % x.rank());
  if (x.count() == 0) return false;
  Dims dims;
  for (const int64_t extent : x.dims())
    dims.push_back(b.random().Chance(0.6) ? extent
                                          : b.random().Between(1, extent));
  Attributes attributes = {{"axis", axis}};
  std::string reduction = "none";
  if (b.opset() >= 16 && recipe.name != "Scatter" && b.random().Chance(0.5))
    reduction = b.opset() >= 18 ? b.random().Pick(std::vector<std::string>{
                                      "add", "mul", "max", "min"})
                                : "add";
  if (reduction != "none")
    attributes.emplace_back("reduction", reduction.c_str());
  std::string indices;
  if (reduction == "none") {
    dims[at] = 1;
    indices = b.Operand(TensorProto::INT64, dims, Index(x.dims()[at], b)).name;
  } else {
    dims[at] = b.random().Between(1, 4);
    indices = b.Operand(b.Type("lli"), dims, Index(x.dims()[at], b)).name;
  }
  const Value updates = b.Operand(x.type, dims);
  b.Node(std::string(recipe.name), {x.name, indices, updates.name}, attributes);
  return true;
}

bool ScatterNd(Builder& b, const Recipe& recipe) {
  const Value x = b.Pick("fffdil", 1, 4);
  if (x.count() == 0) return false;
  const int64_t depth = b.random().Between(1, x.rank());
  std::string reduction = "none";
  if (b.opset() >= 16 && b.random().Chance(0.5))
    reduction = b.opset() >= 18 ? b.random().Pick(std::vector<std::string>{
                                      "add", "mul", "max", "min"})
                                : "add";
  const int64_t count = reduction == "none" ? 1 : b.random().Between(1, 4);
  const int64_t least =
      *std::min_element(x.dims().begin(), x.dims().begin() + depth);
  const Value indices =
      b.Operand(TensorProto::INT64, {count, depth}, Index(least, b));
  Dims dims = {count};
  dims.insert(dims.end(), x.dims().begin() + depth, x.dims().end());
  const Value updates = b.Operand(x.type, dims);
  Attributes attributes;
  if (reduction != "none")
    attributes.emplace_back("reduction", reduction.c_str());
  b.Node("ScatterND", {x.name, indices.name, updates.name}, attributes);
  return true;
}

bool OneHot(Builder& b, const Recipe& recipe) {
  const int64_t depth = b.random().Between(1, 9);
  const int32_t index = b.Type("lli");
  const Value indices = b.Operand(
      index, b.Shape(b.random().Between(0, 2)),
      {static_cast<double>(-depth - 1), static_cast<double>(depth), false});
  const int32_t type = b.Type("fil");
  const Value values = b.Operand(type, {2});
  b.Node("OneHot", {indices.name, b.Integer(depth), values.name},
         {{"axis", b.random().Chance(0.5) ? -1 : 0}});
  return true;
}

bool Compress(Builder& b, const Recipe& recipe) {
  const Value x = b.Pick("fdil", 1, 3);
  Attributes attributes;
  int64_t extent = x.count();
  if (b.random().Chance(0.7)) {
    const int axis = b.Axis(x);
    extent = x.dims()[static_cast<size_t>((axis + x.rank()) % x.rank())];
    attributes.emplace_back("axis", axis);
  }
  const Value condition = b.Operand(
      TensorProto::BOOL, {b.random().Between(std::min<int64_t>(extent, 1),
                                             std::min<int64_t>(extent, 40))});
  b.Node("Compress", {x.name, condition.name}, attributes);
  return true;
}

bool ReverseSequence(Builder& b, const Recipe& recipe) {
  const Value x = b.Pick("fdil", 2, 4);
  const bool batch_first = b.random().Chance(0.5);
  const int64_t batch = x.dims()[batch_first ? 0 : 1],
                time = x.dims()[batch_first ? 1 : 0];
  if (batch == 0 || time == 0) return false;
  const Value lengths = b.Operand(TensorProto::INT64, {batch},
                                  {1, static_cast<double>(time), false});
  b.Node("ReverseSequence", {x.name, lengths.name},
         {{"batch_axis", batch_first ? 0 : 1},
          {"time_axis", batch_first ? 1 : 0}});
  return true;
}

bool TensorScatter(Builder& b, const Recipe& recipe) {
  const int64_t n = b.random().Between(1, 3), most = b.random().Between(2, 8),
                d = b.random().Between(1, 8);
  const int64_t length = b.random().Between(1, most);
  const Value past = b.Operand(TensorProto::FLOAT, {n, 2, most, d});
  const Value update = b.Operand(TensorProto::FLOAT, {n, 2, length, d});
  Names inputs = {past.name, update.name};
  const bool circular = b.random().Chance(0.4);
  if (b.random().Chance(0.7))
    inputs.push_back(
        b.Operand(TensorProto::INT64, {n},
                  {0, static_cast<double>(circular ? most - 1 : most - length),
                   false})
            .name);
  b.Node("TensorScatter", inputs, {{"mode", circular ? "circular" : "linear"}});
  return true;
}

// NOLINTNEXTLINE(cert-err58-cpp)
const Recipe kRows[] = {
    {"", "Compress", Compress},
    {"", "Gather", Gather},
    {"", "GatherElements", GatherElements},
    {"", "GatherND", GatherNd},
    {"", "OneHot", OneHot},
    {"", "ReverseSequence", ReverseSequence},
    {"", "Scatter", ScatterElements, 9, 10},
    {"", "ScatterElements", ScatterElements},
    {"", "ScatterND", ScatterNd},
    {"", "TensorScatter", TensorScatter, 24},
    {"com.microsoft", "GatherND", GatherNd},
    {"com.microsoft", "TorchEmbedding", "f", "T[v,k] l[n,m]{0,v-1}"},
    {"ai.onnx.ml", "ArrayFeatureExtractor", "fdil", "T[n,m] l[k]{0,m-1}"},
};

}  // namespace

std::span<const Recipe> IndexingRecipes() { return kRows; }

}  // namespace ember::tests
