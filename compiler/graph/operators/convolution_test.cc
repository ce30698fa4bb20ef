// Compares conv and conv_transpose with random parameters with plain loops, in
// exact integers.
#include <cstring>
#include <functional>
#include <random>

#include "base/testing/seeds.h"
#include "compiler/graph/operators.h"
#include "compiler/graph/testing/evaluate.h"
#include "gtest/gtest.h"

namespace ember::graph {
namespace {

struct Case {
  bool transposed = false;
  // True if the extents of x's spatial dims are symbols instead of constants.
  bool symbolic = false;
  // `inputs` and `outputs` are the numbers of channels in each group; the
  // tensors have `groups` times as many.
  int64_t batch, groups, inputs, outputs;
  std::vector<int64_t> extent, window, strides, dilations, low, high,
      output_padding;
};

struct Tensor {
  std::vector<int64_t> extents;
  std::vector<int32_t> values;

  explicit Tensor(std::vector<int64_t> shape) : extents(std::move(shape)) {
    int64_t count = 1;
    for (int64_t extent : extents) count *= extent;
    values.assign(static_cast<size_t>(count), 0);
  }
  // Returns the address of the element at these indices; null if they are
  // outside of the tensor.
  int32_t* At(const std::vector<int64_t>& indices) {
    int64_t position = 0;
    for (size_t i = 0; i < extents.size(); ++i) {
      if (indices[i] < 0 || indices[i] >= extents[i]) return nullptr;
      position = position * extents[i] + indices[i];
    }
    return &values[static_cast<size_t>(position)];
  }
};

void ForEachIndex(
    const std::vector<int64_t>& extents,
    const std::function<void(const std::vector<int64_t>&)>& visit) {
  for (int64_t extent : extents) {
    if (extent == 0) return;
  }
  std::vector<int64_t> indices(extents.size(), 0);
  while (true) {
    visit(indices);
    size_t dim = extents.size();
    while (dim > 0 && ++indices[dim - 1] == extents[dim - 1])
      indices[--dim] = 0;
    if (dim == 0) return;
  }
}

std::vector<int64_t> Joined(int64_t first, const std::vector<int64_t>& middle,
                            std::vector<int64_t> last) {
  std::vector<int64_t> result{first};
  result.insert(result.end(), middle.begin(), middle.end());
  result.insert(result.end(), last.begin(), last.end());
  return result;
}

// Computes the convolution by plain loops. For conv, the loops run over output
// positions and taps, and each pair gives the input position that is read. For
// conv_transpose, they run over input positions and taps, and each pair gives
// the output position that is added to.
Tensor Reference(const Case& c, Tensor& x, Tensor& w,
                 const std::vector<int64_t>& result_shape) {
  Tensor y(result_shape);
  const std::vector<int64_t> small =
      c.transposed ? c.extent
                   : std::vector<int64_t>(result_shape.begin() + 1,
                                          result_shape.end() - 1);
  for (int64_t n = 0; n < c.batch; ++n) {
    ForEachIndex(small, [&](const std::vector<int64_t>& at) {
      ForEachIndex(c.window, [&](const std::vector<int64_t>& tap) {
        std::vector<int64_t> large;
        for (size_t i = 0; i < at.size(); ++i) {
          large.push_back(at[i] * c.strides[i] + tap[i] * c.dilations[i] -
                          c.low[i]);
        }
        const auto& from = c.transposed ? at : large;
        const auto& to = c.transposed ? large : at;
        ForEachIndex({c.groups, c.inputs, c.outputs},
                     [&](const std::vector<int64_t>& channel) {
                       const int64_t in = channel[0] * c.inputs + channel[1];
                       const int64_t out = channel[0] * c.outputs + channel[2];
                       const int32_t* source = x.At(Joined(n, from, {in}));
                       int32_t* target = y.At(Joined(n, to, {out}));
                       std::vector<int64_t> w_index = tap;
                       w_index.push_back(c.transposed ? in : channel[1]);
                       w_index.push_back(c.transposed ? channel[2] : out);
                       if (source != nullptr && target != nullptr)
                         *target += *source * *w.At(w_index);
                     });
      });
    });
  }
  return y;
}

TensorData DataOf(const Tensor& tensor) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(tensor.values.data());
  return {DType::kI32, tensor.extents,
          ConstantData::Copy({bytes, 4 * tensor.values.size()})};
}

class RandomCases {
 public:
  explicit RandomCases(uint64_t seed) : random_(seed) {}

  int64_t Pick(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() %
                                      static_cast<uint64_t>(high - low + 1));
  }

  Case Make() {
    Case c;
    c.transposed = Pick(0, 1) == 1;
    c.symbolic = Pick(0, 2) == 0;
    c.batch = Pick(1, 2);
    c.groups = Pick(0, 1) == 0 ? 1 : Pick(1, 3);
    c.inputs = Pick(1, 3);
    c.outputs = Pick(1, 3);
    const int64_t spatial = Pick(1, 2);
    for (int64_t i = 0; i < spatial; ++i) {
      c.window.push_back(Pick(1, 4));
      c.strides.push_back(Pick(0, 3) == 0 ? Pick(1, 70) : Pick(1, 3));
      c.dilations.push_back(Pick(1, 3));
      c.low.push_back(Pick(-1, 3));
      c.high.push_back(Pick(-1, 3));
      c.output_padding.push_back(Pick(0, 2));
      c.extent.push_back(
          Pick(1, 7) + (c.transposed ? 0 : (c.window[i] - 1) * c.dilations[i]));
    }
    return c;
  }

  void Fill(Tensor& tensor) {
    for (int32_t& value : tensor.values)
      value = static_cast<int32_t>(Pick(-9, 9));
  }

 private:
  std::mt19937_64 random_;
};

StatusOr<Operation*> AddConvolution(const Case& c, const Tensor& x,
                                    const Tensor& w, Graph& graph) {
  Shape x_shape(x.extents.begin(), x.extents.end());
  if (c.symbolic) x_shape[1] = Dim::Symbol("H");
  EMBER_ASSIGN_OR_RETURN(Value * x_value,
                         graph.AddInput("x", {DType::kI32, x_shape}));
  EMBER_ASSIGN_OR_RETURN(
      Value * w_value,
      graph.AddInput("w",
                     {DType::kI32, Shape(w.extents.begin(), w.extents.end())}));
  Attributes attributes{{"strides", c.strides},
                        {"dilations", c.dilations},
                        {"low", Shape(c.low.begin(), c.low.end())},
                        {"high", Shape(c.high.begin(), c.high.end())},
                        {"groups", c.groups}};
  if (c.transposed) attributes.Set("output_padding", c.output_padding);
  return graph.Add(OperatorNamed(c.transposed ? "conv_transpose" : "conv"),
                   {x_value, w_value}, attributes, "");
}

// Runs the random case of a seed. Returns false if its parameters give no valid
// convolution, because an output extent is below 0.
bool RunCase(uint64_t seed) {
  RandomCases random(seed);
  const Case c = random.Make();
  const int64_t all_inputs = c.inputs * c.groups,
                all_outputs = c.outputs * c.groups;
  Tensor x(Joined(c.batch, c.extent, {all_inputs}));
  std::vector<int64_t> w_shape = c.window;
  w_shape.push_back(c.transposed ? all_inputs : c.inputs);
  w_shape.push_back(c.transposed ? c.outputs : all_outputs);
  Tensor w(w_shape);
  random.Fill(x);
  random.Fill(w);
  Graph graph("convolution");
  const StatusOr<Operation*> operation = AddConvolution(c, x, w, graph);
  if (!operation.ok()) {
    EXPECT_FALSE(c.symbolic && c.extent.size() == 1)
        << operation.status().message();
    return false;
  }
  graph.AddOutput("y", (*operation)->result());
  const StatusOr<std::vector<TensorData>> outputs =
      Evaluate(graph, std::vector<TensorData>{DataOf(x), DataOf(w)});
  // Evaluation may fail only in a case with symbolic extents, if an output
  // extent is below 0. With constant extents, adding the operation has reported
  // that already.
  if (!outputs.ok()) {
    EXPECT_TRUE(c.symbolic) << outputs.status().message();
    EXPECT_NE(outputs.status().message().find("at least 0"),
              std::string_view::npos)
        << outputs.status().message();
    return false;
  }
  const TensorData& y = (*outputs)[0];
  const Tensor expected = Reference(c, x, w, y.extents);
  EXPECT_EQ(y.extents.size(), c.extent.size() + 2);
  for (size_t i = 0; i < c.extent.size(); ++i) {
    const int64_t reach = (c.window[i] - 1) * c.dilations[i] + 1;
    const int64_t extent =
        c.transposed
            ? (c.extent[i] - 1) * c.strides[i] + reach - c.low[i] - c.high[i] +
                  c.output_padding[i]
            : (c.extent[i] + c.low[i] + c.high[i] - reach + c.strides[i]) /
                  c.strides[i];
    EXPECT_EQ(y.extents[i + 1], extent);
  }
  EXPECT_EQ(std::memcmp(y.data.bytes.data(), expected.values.data(),
                        y.data.bytes.size()),
            0)
      << (c.transposed ? "conv_transpose" : "conv") << " of "
      << ToString(graph.inputs()[0]->type()) << " with "
      << ToString(graph.inputs()[1]->type());
  return true;
}

TEST(ConvolutionTest, AgreesWithPlainLoops) {
  const SeedRange seeds = TestSeeds(400);
  int run = 0;
  for (uint64_t seed = seeds.begin; seed < seeds.end && !HasFailure(); ++seed) {
    SCOPED_TRACE("replay: EMBER_SEED=" + std::to_string(seed) +
                 " bazel test //compiler/graph/operators:convolution_test "
                 "--test_env=EMBER_SEED");
    run += RunCase(seed);
  }
  if (!seeds.is_replay) {
    EXPECT_GT(run, 300);
  }
}

}  // namespace
}  // namespace ember::graph
