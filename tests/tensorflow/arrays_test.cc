// Tests operators that make, move, choose and reduce elements, against their
// documentation.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "frontends/tensorflow/import.h"
#include "tests/tensorflow/one_op.h"

namespace ember::tests {
namespace {

using tensorflow::Flag;
using tensorflow::Floats;
using tensorflow::Int;
using tensorflow::Ints;
using tensorflow::Text;
using tensorflow::Type;

struct Case {
  std::string name;
  std::function<void(OneOp&)> make;
  std::vector<Numbers> expected;
};

const Numbers kMatrix = F32({2, 3}, {1, 2, 3, 4, 5, 6});

void RunAll(const std::vector<Case>& cases) {
  for (const Case& test : cases) {
    SCOPED_TRACE(test.name);
    OneOp op(test.name.substr(0, test.name.find(' ')),
             static_cast<int>(test.expected.size()));
    test.make(op);
    ExpectNumbers(op.Run(), test.expected);
  }
}

TEST(Arrays, Movement) {
  RunAll({
      {"Reshape",
       [](OneOp& op) { op.Input(kMatrix).Constant(I32({2}, {3, -1})); },
       {F32({3, 2}, {1, 2, 3, 4, 5, 6})}},
      {"Squeeze",
       [](OneOp& op) {
         op.Input(F32({1, 2, 1}, {1, 2})).Attribute(Ints("squeeze_dims", {0}));
       },
       {F32({2, 1}, {1, 2})}},
      {"Squeeze all",
       [](OneOp& op) { op.Input(F32({1, 2, 1}, {1, 2})); },
       {F32({2}, {1, 2})}},
      {"ExpandDims",
       [](OneOp& op) { op.Input(F32({2}, {1, 2})).Constant(I32({}, {-1})); },
       {F32({2, 1}, {1, 2})}},
      {"Transpose",
       [](OneOp& op) { op.Input(kMatrix).Constant(I32({2}, {1, 0})); },
       {F32({3, 2}, {1, 4, 2, 5, 3, 6})}},
      {"Concat",
       [](OneOp& op) {
         op.Constant(I32({}, {0})).Input(F32({1}, {1})).Input(F32({2}, {2, 3}));
       },
       {F32({3}, {1, 2, 3})}},
      {"ConcatV2",
       [](OneOp& op) {
         op.Input(kMatrix).Input(kMatrix).Constant(I32({}, {-1}));
       },
       {F32({2, 6}, {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6})}},
      {"ConcatOffset",
       [](OneOp& op) {
         op.Constant(I32({}, {1})).Constant(I32({2}, {2, 3}));
         op.Constant(I32({2}, {2, 5}));
       },
       {I32({2}, {0, 0}), I32({2}, {0, 3})}},
      {"Pack",
       [](OneOp& op) {
         op.Input(F32({2}, {1, 2}))
             .Input(F32({2}, {3, 4}))
             .Attribute(Int("axis", 1));
       },
       {F32({2, 2}, {1, 3, 2, 4})}},
      {"Unpack",
       [](OneOp& op) { op.Input(kMatrix).Attribute(Int("num", 2)); },
       {F32({3}, {1, 2, 3}), F32({3}, {4, 5, 6})}},
      {"Split",
       [](OneOp& op) {
         op.Constant(I32({}, {1})).Input(F32({1, 4}, {1, 2, 3, 4}));
         op.Attribute(Int("num_split", 2));
       },
       {F32({1, 2}, {1, 2}), F32({1, 2}, {3, 4})}},
      {"SplitV",
       [](OneOp& op) {
         op.Input(F32({4}, {1, 2, 3, 4})).Constant(I32({2}, {1, -1}));
         op.Constant(I32({}, {0})).Attribute(Int("num_split", 2));
       },
       {F32({1}, {1}), F32({3}, {2, 3, 4})}},
      {"Pad",
       [](OneOp& op) {
         op.Input(F32({2}, {1, 2})).Constant(I32({1, 2}, {1, 2}));
       },
       {F32({5}, {0, 1, 2, 0, 0})}},
      {"PadV2",
       [](OneOp& op) {
         op.Input(F32({2}, {1, 2}))
             .Constant(I32({1, 2}, {1, 0}))
             .Input(F32({}, {9}));
       },
       {F32({3}, {9, 1, 2})}},
      {"MirrorPad",
       [](OneOp& op) {
         op.Input(F32({3}, {1, 2, 3})).Constant(I32({1, 2}, {2, 1}));
         op.Attribute(Text("mode", "REFLECT"));
       },
       {F32({6}, {3, 2, 1, 2, 3, 2})}},
      {"MirrorPad symmetric",
       [](OneOp& op) {
         op.Input(F32({3}, {1, 2, 3})).Constant(I32({1, 2}, {2, 1}));
         op.Attribute(Text("mode", "SYMMETRIC"));
       },
       {F32({6}, {2, 1, 1, 2, 3, 3})}},
      {"Tile",
       [](OneOp& op) {
         op.Input(F32({1, 2}, {1, 2})).Constant(I32({2}, {2, 2}));
       },
       {F32({2, 4}, {1, 2, 1, 2, 1, 2, 1, 2})}},
      {"BroadcastTo",
       [](OneOp& op) { op.Input(F32({2}, {1, 2})).Constant(I32({2}, {2, 2})); },
       {F32({2, 2}, {1, 2, 1, 2})}},
      {"BroadcastArgs",
       [](OneOp& op) { op.Constant(I32({2}, {2, 1})).Constant(I32({1}, {3})); },
       {I32({2}, {2, 3})}},
      {"ReverseV2",
       [](OneOp& op) { op.Input(kMatrix).Constant(I32({1}, {1})); },
       {F32({2, 3}, {3, 2, 1, 6, 5, 4})}},
      {"Reverse",
       [](OneOp& op) { op.Input(kMatrix).Constant(Bool({2}, {1, 0})); },
       {F32({2, 3}, {4, 5, 6, 1, 2, 3})}},
      {"Roll",
       [](OneOp& op) {
         op.Input(kMatrix)
             .Constant(I32({2}, {1, -1}))
             .Constant(I32({2}, {0, 1}));
       },
       {F32({2, 3}, {5, 6, 4, 2, 3, 1})}},
      {"SpaceToDepth",
       [](OneOp& op) {
         op.Input(F32({1, 2, 2, 1}, {1, 2, 3, 4}))
             .Attribute(Int("block_size", 2));
       },
       {F32({1, 1, 1, 4}, {1, 2, 3, 4})}},
      {"DepthToSpace",
       [](OneOp& op) {
         op.Input(F32({1, 1, 1, 4}, {1, 2, 3, 4}))
             .Attribute(Int("block_size", 2));
       },
       {F32({1, 2, 2, 1}, {1, 2, 3, 4})}},
      {"SpaceToBatchND",
       [](OneOp& op) {
         op.Input(F32({1, 2, 2, 1}, {1, 2, 3, 4})).Constant(I32({2}, {2, 2}));
         op.Constant(I32({2, 2}, {0, 0, 0, 0}));
       },
       {F32({4, 1, 1, 1}, {1, 2, 3, 4})}},
      {"BatchToSpaceND",
       [](OneOp& op) {
         op.Input(F32({4, 1, 1, 1}, {1, 2, 3, 4})).Constant(I32({2}, {2, 2}));
         op.Constant(I32({2, 2}, {0, 0, 0, 1}));
       },
       {F32({1, 2, 1, 1}, {1, 3})}},
      {"StridedSlice",
       [](OneOp& op) {
         op.Input(kMatrix)
             .Constant(I32({2}, {0, -1}))
             .Constant(I32({2}, {1, -4}));
         op.Constant(I32({2}, {1, -2})).Attribute(Int("shrink_axis_mask", 1));
       },
       {F32({2}, {3, 1})}},
      {"StridedSlice new axis",
       [](OneOp& op) {
         op.Input(kMatrix).Constant(I32({3}, {0, 0, 1}));
         op.Constant(I32({3}, {0, 0, 2})).Constant(I32({3}, {1, 1, 1}));
         op.Attribute(Int("ellipsis_mask", 1))
             .Attribute(Int("new_axis_mask", 2));
       },
       {F32({2, 1, 1}, {2, 5})}},
      {"Slice",
       [](OneOp& op) {
         op.Input(kMatrix)
             .Constant(I32({2}, {0, 1}))
             .Constant(I32({2}, {-1, 1}));
       },
       {F32({2, 1}, {2, 5})}},
      {"ExtractImagePatches",
       [](OneOp& op) {
         op.Input(F32({1, 2, 3, 1}, {1, 2, 3, 4, 5, 6}));
         op.Attribute(Ints("ksizes", {1, 2, 2, 1}));
         op.Attribute(Ints("strides", {1, 1, 1, 1}));
         op.Attribute(Ints("rates", {1, 1, 1, 1}))
             .Attribute(Text("padding", "VALID"));
       },
       {F32({1, 1, 2, 4}, {1, 2, 4, 5, 2, 3, 5, 6})}},
  });
}

TEST(Arrays, Creation) {
  RunAll({
      {"Shape", [](OneOp& op) { op.Input(kMatrix); }, {I32({2}, {2, 3})}},
      {"Shape wide",
       [](OneOp& op) {
         op.Input(kMatrix).Attribute(Type("out_type", tensorflow::DT_INT64));
       },
       {I64({2}, {2, 3})}},
      {"ShapeN",
       [](OneOp& op) { op.Input(kMatrix).Input(F32({1}, {1})); },
       {I32({2}, {2, 3}), I32({1}, {1})}},
      {"Size", [](OneOp& op) { op.Input(kMatrix); }, {I32({}, {6})}},
      {"Rank", [](OneOp& op) { op.Input(kMatrix); }, {I32({}, {2})}},
      {"Fill",
       [](OneOp& op) { op.Constant(I32({1}, {3})).Input(F32({}, {7})); },
       {F32({3}, {7, 7, 7})}},
      {"Range",
       [](OneOp& op) {
         op.Constant(I32({}, {1}))
             .Constant(I32({}, {8}))
             .Constant(I32({}, {3}));
       },
       {I32({3}, {1, 4, 7})}},
      {"LinSpace",
       [](OneOp& op) {
         op.Input(F32({}, {1})).Input(F32({}, {3})).Constant(I32({}, {5}));
       },
       {F32({5}, {1, 1.5, 2, 2.5, 3})}},
      {"InvertPermutation",
       [](OneOp& op) { op.Input(I32({3}, {2, 0, 1})); },
       {I32({3}, {1, 2, 0})}},
      {"Diag",
       [](OneOp& op) { op.Input(F32({2}, {1, 2})); },
       {F32({2, 2}, {1, 0, 0, 2})}},
      {"DiagPart",
       [](OneOp& op) { op.Input(F32({2, 2}, {1, 2, 3, 4})); },
       {F32({2}, {1, 4})}},
      {"MatrixDiag",
       [](OneOp& op) { op.Input(F32({1, 2}, {1, 2})); },
       {F32({1, 2, 2}, {1, 0, 0, 2})}},
      {"MatrixDiagV3",
       [](OneOp& op) {
         op.Input(F32({2}, {1, 2}))
             .Constant(I32({}, {1}))
             .Constant(I32({}, {-1}));
         op.Constant(I32({}, {-1})).Input(F32({}, {9}));
       },
       {F32({3, 3}, {9, 1, 9, 9, 9, 2, 9, 9, 9})}},
      {"MatrixDiagV3 below",
       [](OneOp& op) {
         op.Input(F32({2}, {1, 2}))
             .Constant(I32({}, {-1}))
             .Constant(I32({}, {-1}));
         op.Constant(I32({}, {-1})).Input(F32({}, {9}));
       },
       {F32({3, 3}, {9, 9, 9, 1, 9, 9, 9, 2, 9})}},
      {"MatrixDiagPart",
       [](OneOp& op) { op.Input(kMatrix); },
       {F32({2}, {1, 5})}},
      {"MatrixDiagPartV3",
       [](OneOp& op) {
         op.Input(kMatrix).Constant(I32({}, {1})).Input(F32({}, {0}));
       },
       {F32({2}, {2, 6})}},
      {"MatrixDiagPartV3 below",
       [](OneOp& op) {
         op.Input(kMatrix).Constant(I32({}, {-1})).Input(F32({}, {0}));
       },
       {F32({1}, {4})}},
      {"MatrixSetDiag",
       [](OneOp& op) { op.Input(kMatrix).Input(F32({2}, {8, 9})); },
       {F32({2, 3}, {8, 2, 3, 4, 9, 6})}},
      {"MatrixBandPart",
       [](OneOp& op) {
         op.Input(kMatrix).Constant(I32({}, {0})).Constant(I32({}, {1}));
       },
       {F32({2, 3}, {1, 2, 0, 0, 5, 6})}},
      {"MatrixBandPart lower",
       [](OneOp& op) {
         op.Input(kMatrix).Constant(I32({}, {-1})).Constant(I32({}, {0}));
       },
       {F32({2, 3}, {1, 0, 0, 4, 5, 0})}},
  });
}

TEST(Arrays, Reductions) {
  const auto with = [](bool keep) {
    return [keep](OneOp& op) {
      op.Input(kMatrix)
          .Constant(I32({1}, {-1}))
          .Attribute(Flag("keep_dims", keep));
    };
  };
  RunAll({
      {"Sum", with(false), {F32({2}, {6, 15})}},
      {"Sum kept", with(true), {F32({2, 1}, {6, 15})}},
      {"Mean", with(false), {F32({2}, {2, 5})}},
      {"Prod", with(false), {F32({2}, {6, 120})}},
      {"Max", with(false), {F32({2}, {3, 6})}},
      {"Min", with(false), {F32({2}, {1, 4})}},
      {"EuclideanNorm",
       with(false),
       {F32({2}, {std::sqrt(14), std::sqrt(77)})}},
      {"All",
       [](OneOp& op) {
         op.Input(Bool({2, 2}, {1, 1, 1, 0})).Constant(I32({}, {1}));
       },
       {Bool({2}, {1, 0})}},
      {"Any",
       [](OneOp& op) {
         op.Input(Bool({2, 2}, {0, 0, 1, 0})).Constant(I32({}, {1}));
       },
       {Bool({2}, {0, 1})}},
      {"ArgMax",
       [](OneOp& op) { op.Input(kMatrix).Constant(I32({}, {0})); },
       {I64({3}, {1, 1, 1})}},
      {"ArgMin",
       [](OneOp& op) {
         op.Input(kMatrix).Constant(I32({}, {1}));
         op.Attribute(Type("output_type", tensorflow::DT_INT32));
       },
       {I32({2}, {0, 0})}},
      {"L2Loss",
       [](OneOp& op) { op.Input(F32({2}, {3, 4})); },
       {F32({}, {12.5})}},
      {"Cumsum",
       [](OneOp& op) { op.Input(kMatrix).Constant(I32({}, {1})); },
       {F32({2, 3}, {1, 3, 6, 4, 9, 15})}},
      {"Cumsum exclusive reverse",
       [](OneOp& op) {
         op.Input(kMatrix).Constant(I32({}, {1}));
         op.Attribute(Flag("exclusive", true)).Attribute(Flag("reverse", true));
       },
       {F32({2, 3}, {5, 3, 0, 11, 6, 0})}},
      {"Cumprod exclusive",
       [](OneOp& op) {
         op.Input(kMatrix)
             .Constant(I32({}, {1}))
             .Attribute(Flag("exclusive", true));
       },
       {F32({2, 3}, {1, 1, 2, 1, 4, 20})}},
  });
}

TEST(Arrays, Indexing) {
  RunAll({
      {"Gather",
       [](OneOp& op) { op.Input(kMatrix).Input(I32({2}, {1, 1})); },
       {F32({2, 3}, {4, 5, 6, 4, 5, 6})}},
      {"GatherV2",
       [](OneOp& op) {
         op.Input(kMatrix).Input(I32({2}, {2, 0})).Constant(I32({}, {1}));
       },
       {F32({2, 2}, {3, 1, 6, 4})}},
      {"GatherV2 batch",
       [](OneOp& op) {
         op.Input(kMatrix).Input(I32({2, 1}, {2, 0})).Constant(I32({}, {1}));
         op.Attribute(Int("batch_dims", 1));
       },
       {F32({2, 1}, {3, 4})}},
      {"GatherV2 batch before the axis",
       [](OneOp& op) {
         op.Input(F32({1, 2, 3}, {1, 2, 3, 4, 5, 6}))
             .Input(I32({1, 2}, {2, 0}));
         op.Constant(I32({}, {2})).Attribute(Int("batch_dims", 1));
       },
       {F32({1, 2, 2}, {3, 1, 6, 4})}},
      {"GatherNd",
       [](OneOp& op) { op.Input(kMatrix).Input(I32({1, 2}, {1, 2})); },
       {F32({1}, {6})}},
      {"ScatterNd",
       [](OneOp& op) {
         op.Input(I32({3, 1}, {1, 3, 1})).Input(F32({3}, {5, 6, 7}));
         op.Constant(I32({1}, {4}));
       },
       {F32({4}, {0, 12, 0, 6})}},
      {"TensorScatterUpdate",
       [](OneOp& op) {
         op.Input(F32({3}, {1, 2, 3}))
             .Input(I32({1, 1}, {1}))
             .Input(F32({1}, {9}));
       },
       {F32({3}, {1, 9, 3})}},
      {"TensorScatterAdd",
       [](OneOp& op) {
         op.Input(F32({3}, {1, 2, 3}))
             .Input(I32({1, 1}, {1}))
             .Input(F32({1}, {9}));
       },
       {F32({3}, {1, 11, 3})}},
      {"TensorScatterSub",
       [](OneOp& op) {
         op.Input(F32({3}, {1, 2, 3}))
             .Input(I32({1, 1}, {1}))
             .Input(F32({1}, {9}));
       },
       {F32({3}, {1, -7, 3})}},
      {"TensorScatterMax",
       [](OneOp& op) {
         op.Input(F32({3}, {1, 2, 3}))
             .Input(I32({2, 1}, {0, 1}))
             .Input(F32({2}, {0, 9}));
       },
       {F32({3}, {1, 9, 3})}},
      {"TensorScatterMin",
       [](OneOp& op) {
         op.Input(F32({3}, {1, 2, 3}))
             .Input(I32({2, 1}, {0, 1}))
             .Input(F32({2}, {0, 9}));
       },
       {F32({3}, {0, 2, 3})}},
      {"OneHot",
       [](OneOp& op) {
         op.Input(I32({2}, {2, -1})).Constant(I32({}, {3})).Input(F32({}, {5}));
         op.Input(F32({}, {1}));
       },
       {F32({2, 3}, {1, 1, 5, 1, 1, 1})}},
      {"TopKV2",
       [](OneOp& op) { op.Input(kMatrix).Constant(I32({}, {2})); },
       {F32({2, 2}, {3, 2, 6, 5}), I32({2, 2}, {2, 1, 2, 1})}},
      {"InTopKV2",
       [](OneOp& op) {
         op.Input(kMatrix).Input(I32({2}, {0, 2})).Constant(I32({}, {2}));
       },
       {Bool({2}, {0, 1})}},
      {"Where",
       [](OneOp& op) { op.Input(Bool({2, 2}, {0, 1, 1, 0})); },
       {I64({2, 2}, {0, 1, 1, 0})}},
      {"Unique",
       [](OneOp& op) { op.Input(I32({4}, {5, 3, 5, 3})); },
       {I32({2}, {5, 3}), I32({4}, {0, 1, 0, 1})}},
      {"UniqueWithCounts",
       [](OneOp& op) { op.Input(I32({3}, {5, 3, 5})); },
       {I32({2}, {5, 3}), I32({3}, {0, 1, 0}), I32({2}, {2, 1})}},
      {"ReverseSequence",
       [](OneOp& op) {
         op.Input(kMatrix).Input(I32({2}, {2, 3})).Attribute(Int("seq_dim", 1));
       },
       {F32({2, 3}, {2, 1, 3, 6, 5, 4})}},
      {"Bucketize",
       [](OneOp& op) {
         op.Input(F32({4}, {-1, 0, 5, 100}))
             .Attribute(Floats("boundaries", {0, 10, 100}));
       },
       {I32({4}, {0, 1, 1, 3})}},
      {"LowerBound",
       [](OneOp& op) {
         op.Input(F32({1, 4}, {1, 3, 3, 5})).Input(F32({1, 2}, {3, 6}));
       },
       {I32({1, 2}, {1, 4})}},
      {"UpperBound",
       [](OneOp& op) {
         op.Input(F32({1, 4}, {1, 3, 3, 5})).Input(F32({1, 2}, {3, 0}));
       },
       {I32({1, 2}, {3, 0})}},
      // In Bucketize, NaN is above all numbers.
      {"Bucketize",
       [](OneOp& op) {
         op.Input(F32({2}, {NAN, 5})).Attribute(Floats("boundaries", {0, 10}));
       },
       {I32({2}, {2, 1})}},
      {"LowerBound",
       [](OneOp& op) {
         op.Input(F32({1, 3}, {1, 3, NAN})).Input(F32({1, 3}, {NAN, 3, 9}));
       },
       {I32({1, 3}, {2, 1, 2})}},
      {"UpperBound",
       [](OneOp& op) {
         op.Input(F32({1, 3}, {1, 3, NAN})).Input(F32({1, 3}, {NAN, 3, 9}));
       },
       {I32({1, 3}, {3, 2, 2})}},
      {"SparseToDense",
       [](OneOp& op) {
         op.Input(I32({2, 1}, {0, 2}))
             .Constant(I32({1}, {4}))
             .Input(F32({2}, {5, 6}));
         op.Input(F32({}, {1}));
       },
       {F32({4}, {5, 1, 6, 1})}},
      {"DynamicStitch",
       [](OneOp& op) {
         op.Input(I32({2}, {2, 0})).Input(I32({}, {1}));
         op.Input(F32({2, 1}, {5, 6})).Input(F32({1}, {7}));
       },
       {F32({3, 1}, {6, 7, 5})}},
      {"DynamicPartition",
       [](OneOp& op) {
         op.Input(F32({3}, {1, 2, 3})).Input(I32({3}, {1, 0, 1}));
         op.Attribute(Int("num_partitions", 2));
       },
       {F32({1}, {2}), F32({2}, {1, 3})}},
      {"Bincount",
       [](OneOp& op) {
         op.Input(I32({4}, {1, 1, 2, 7}))
             .Constant(I32({}, {3}))
             .Constant(I32({0}, {}));
       },
       {I32({3}, {0, 2, 1})}},
      {"DenseBincount",
       [](OneOp& op) {
         op.Input(I32({2, 2}, {1, 1, 0, 2})).Constant(I32({}, {3}));
         op.Input(F32({2, 2}, {1, 2, 3, 4}));
       },
       {F32({2, 3}, {0, 3, 0, 3, 0, 4})}},
  });
}

TEST(Arrays, Segments) {
  const auto sorted = [](OneOp& op) {
    op.Input(F32({4, 1}, {1, 2, 3, 4})).Input(I32({4}, {0, 0, 2, 2}));
  };
  const auto unsorted = [](OneOp& op) {
    op.Input(F32({4}, {1, 2, 3, 4})).Input(I32({4}, {1, 0, 1, -1}));
    op.Constant(I32({}, {2}));
  };
  const auto sparse = [](OneOp& op) {
    op.Input(F32({3, 1}, {1, 2, 4})).Input(I32({3}, {0, 2, 1}));
    op.Input(I32({3}, {0, 0, 1}));
  };
  RunAll({
      {"SegmentSum", sorted, {F32({3, 1}, {3, 0, 7})}},
      {"SegmentProd", sorted, {F32({3, 1}, {2, 1, 12})}},
      {"SegmentMax", sorted, {F32({3, 1}, {2, 0, 4})}},
      {"SegmentMin", sorted, {F32({3, 1}, {1, 0, 3})}},
      {"SegmentMean", sorted, {F32({3, 1}, {1.5, 0, 3.5})}},
      {"UnsortedSegmentSum", unsorted, {F32({2}, {2, 4})}},
      {"UnsortedSegmentProd", unsorted, {F32({2}, {2, 3})}},
      {"UnsortedSegmentMax", unsorted, {F32({2}, {2, 3})}},
      {"UnsortedSegmentMin", unsorted, {F32({2}, {2, 1})}},
      {"SparseSegmentSum", sparse, {F32({2, 1}, {5, 2})}},
      {"SparseSegmentMean", sparse, {F32({2, 1}, {2.5, 2})}},
      {"SparseSegmentSqrtN", sparse, {F32({2, 1}, {5 / std::sqrt(2), 2})}},
  });
}

// A segment without rows has the lowest or highest value of its type.
TEST(Arrays, SegmentsWithoutRows) {
  const double f64 = std::numeric_limits<double>::max();
  const double f32 = std::numeric_limits<float>::max();
  const std::pair<DType, double> kHighest[] = {
      {DType::kF64, f64}, {DType::kF32, f32}, {DType::kF16, 65504}};
  for (const auto& [type, highest] : kHighest) {
    for (const bool is_max : {true, false}) {
      OneOp op(is_max ? "UnsortedSegmentMax" : "UnsortedSegmentMin");
      op.Input({type, {1}, {3}}).Input(I32({1}, {1})).Constant(I32({}, {2}));
      ExpectNumbers(op.Run(), {{type, {2}, {is_max ? -highest : highest, 3}}});
    }
  }
  // The highest integers are exact, although no double has their values.
  OneOp least("UnsortedSegmentMin");
  least.Input({DType::kI64, {1}, {3}}).Input(I32({1}, {1}));
  least.Constant(I32({}, {2}));
  ExpectNumbers(least.Run(), {{DType::kI64, {2}, {std::ldexp(1, 63), 3}}}, 0);
  // Rows may be infinite.
  const double infinity = std::numeric_limits<double>::infinity();
  OneOp infinite("SegmentMax");
  infinite.Input(F32({2}, {-infinity, 2})).Input(I32({2}, {0, 2}));
  ExpectNumbers(infinite.Run(), {F32({3}, {-infinity, 0, 2})});
}

// A constant's list of values may be shorter than the tensor: the last value
// fills the rest, which is how a tensor of zeros is written. Half floats are
// given by their bits.
TEST(Arrays, ConstantsOfLists) {
  tensorflow::GraphMaker graph;
  tensorflow::AttrValue value;
  value.mutable_tensor()->set_dtype(tensorflow::DT_FLOAT);
  value.mutable_tensor()->mutable_tensor_shape()->add_dim()->set_size(4);
  value.mutable_tensor()->add_float_val(1);
  value.mutable_tensor()->add_float_val(2);
  graph.Node("a", "Const", {}, {{"value", value}});
  value.mutable_tensor()->Clear();
  value.mutable_tensor()->set_dtype(tensorflow::DT_HALF);
  value.mutable_tensor()->mutable_tensor_shape();
  value.mutable_tensor()->add_half_val(0x3e00);
  graph.Node("b", "Const", {}, {{"value", value}});
  graph.Node("ya", "Identity", {"a"});
  graph.Node("yb", "Cast", {"b"}, {Type("DstT", tensorflow::DT_FLOAT)});
  ExpectNumbers(RunBytes(graph.Finish(), {}),
                {F32({4}, {1, 2, 2, 2}), F32({}, {1.5})});
}

// The last string of a shorter list fills the rest of the tensor. It must be
// looked up only once, because it may be long and there may be very many
// elements.
TEST(Arrays, ConstantsOfStrings) {
  tensorflow::GraphMaker graph;
  tensorflow::AttrValue value;
  value.mutable_tensor()->set_dtype(tensorflow::DT_STRING);
  value.mutable_tensor()->mutable_tensor_shape()->add_dim()->set_size(1 << 22);
  value.mutable_tensor()->add_string_val("short");
  value.mutable_tensor()->add_string_val(std::string(1 << 21, 's'));
  graph.Node("a", "Const", {}, {{"value", value}});
  graph.Node("y", "Identity", {"a"});
  const auto imported = tensorflow::ImportModelBytes(
      tensorflow::AsBytes(graph.Finish()), {.entry = "->y"});
  ASSERT_TRUE(imported.ok()) << imported.status().ToString();
  EXPECT_EQ(imported->strings().size(), 2u);
}

}  // namespace
}  // namespace ember::tests
