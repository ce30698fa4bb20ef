// Tests shapes, order, indices, reductions and creation against their
// definitions.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/torchscript/one_operator.h"

namespace ember::tests {
namespace {

struct Case {
  std::string expression;
  std::vector<Numbers> expected;
};

Numbers Bools(std::vector<int64_t> dims, std::vector<double> values) {
  return {DType::kBool, std::move(dims), std::move(values)};
}

// The matrix [[1, 2, 3], [4, 5, 6]].
const Numbers kMatrix = F32({2, 3}, {1, 2, 3, 4, 5, 6});

void Check(const std::vector<Numbers>& inputs, const std::vector<Case>& cases) {
  for (const Case& one : cases)
    ExpectTorch(one.expression, inputs, one.expected);
}

// The rank of a result is part of the module. A dim of 1 in a dim that the
// model leaves open is an error, not a result of another rank.
TEST(Movement, SqueezeOfAnOpenDimIsChecked) {
  frontends::ImportOptions options;
  options.input_shapes["x0"] = {std::nullopt, 3, 1};
  for (const char* call : {"torch.squeeze(x0)", "torch.squeeze(x0, 0)"}) {
    const std::string archive =
        ScriptedTorchArchive(std::string("return ") + call, 1);
    const auto kept = RunTorchArchive(
        archive, {F32({2, 3, 1}, {1, 2, 3, 4, 5, 6})}, options);
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

TEST(Movement, Shapes) {
  const std::vector<double> all = kMatrix.values;
  Check({kMatrix},
        {{"torch.view(x0, [3, -1])", {F32({3, 2}, all)}},
         {"torch.reshape(x0, [-1])", {F32({6}, all)}},
         {"torch.flatten(x0)", {F32({6}, all)}},
         {"torch.flatten(torch.unsqueeze(x0, 0), 1, 2)", {F32({1, 6}, all)}},
         {"torch.unflatten(x0, 1, [1, -1])", {F32({2, 1, 3}, all)}},
         {"torch.unsqueeze(x0, -1)", {F32({2, 3, 1}, all)}},
         {"torch.squeeze(torch.unsqueeze(x0, 1))", {F32({2, 3}, all)}},
         {"torch.squeeze(torch.unsqueeze(x0, 1), 1)", {F32({2, 3}, all)}},
         {"torch.squeeze(torch.unsqueeze(x0, 1), 0)", {F32({2, 1, 3}, all)}},
         {"torch.expand(torch.slice(x0, 0, 0, 1), [2, -1])",
          {F32({2, 3}, {1, 2, 3, 1, 2, 3})}},
         {"torch.repeat(x0, [2, 1])",
          {F32({4, 3}, {1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6})}},
         {"torch.tile(torch.select(x0, 0, 0), [2])",
          {F32({6}, {1, 2, 3, 1, 2, 3})}},
         {"torch.repeat_interleave(x0, 2, 0)",
          {F32({4, 3}, {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6})}},
         {"torch.t(x0)", {F32({3, 2}, {1, 4, 2, 5, 3, 6})}},
         {"torch.transpose(x0, 0, -1)", {F32({3, 2}, {1, 4, 2, 5, 3, 6})}},
         {"torch.permute(torch.unsqueeze(x0, 0), [2, 0, 1])",
          {F32({3, 1, 2}, {1, 4, 2, 5, 3, 6})}},
         {"torch.movedim(torch.unsqueeze(x0, 0), 2, 0)",
          {F32({3, 1, 2}, {1, 4, 2, 5, 3, 6})}}});
}

TEST(Movement, Parts) {
  Check({kMatrix},
        {{"torch.slice(x0, 1, 1)", {F32({2, 2}, {2, 3, 5, 6})}},
         {"torch.slice(x0, 1, -2, -1)", {F32({2, 1}, {2, 5})}},
         {"torch.slice(x0, 1, 0, 9223372036854775807, 2)",
          {F32({2, 2}, {1, 3, 4, 6})}},
         {"torch.slice(x0, 0, 1, -5)", {F32({0, 3}, {})}},
         {"torch.narrow(x0, 1, 1, 2)", {F32({2, 2}, {2, 3, 5, 6})}},
         {"torch.select(x0, 1, -1)", {F32({2}, {3, 6})}},
         {"(torch.unbind(x0, 0))[1]", {F32({3}, {4, 5, 6})}},
         {"(torch.split(x0, 2, 1))[1]", {F32({2, 1}, {3, 6})}},
         {"(torch.split_with_sizes(x0, [1, 2], 1))[1]",
          {F32({2, 2}, {2, 3, 5, 6})}},
         {"(torch.chunk(x0, 2, 1))[0]", {F32({2, 2}, {1, 2, 4, 5})}},
         {"(torch.tensor_split(x0, 2, 1))[0]", {F32({2, 2}, {1, 2, 4, 5})}},
         {"torch.cat([x0, x0], -1)",
          {F32({2, 6}, {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6})}},
         {"torch.cat([torch.zeros([0]), x0])", {kMatrix}},
         {"torch.stack([x0, x0], 1)",
          {F32({2, 2, 3}, {1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6})}},
         {"torch.hstack([torch.select(x0, 0, 0), torch.ones([1])])",
          {F32({4}, {1, 2, 3, 1})}},
         {"torch.vstack([torch.select(x0, 0, 0), torch.ones([3])])",
          {F32({2, 3}, {1, 2, 3, 1, 1, 1})}}});
}

TEST(Movement, Order) {
  Check({kMatrix},
        {{"torch.flip(x0, [1])", {F32({2, 3}, {3, 2, 1, 6, 5, 4})}},
         {"torch.roll(x0, 1, 1)", {F32({2, 3}, {3, 1, 2, 6, 4, 5})}},
         {"torch.roll(x0, [-1])", {F32({2, 3}, {2, 3, 4, 5, 6, 1})}},
         {"torch.rot90(x0, 1, [0, 1])", {F32({3, 2}, {3, 6, 2, 5, 1, 4})}},
         {"torch.rot90(x0, 2, [0, 1])", {F32({2, 3}, {6, 5, 4, 3, 2, 1})}},
         {"torch.rot90(x0, -1, [0, 1])", {F32({3, 2}, {4, 1, 5, 2, 6, 3})}},
         {"torch.triu(x0, 1)", {F32({2, 3}, {0, 2, 3, 0, 0, 6})}},
         {"torch.tril(x0)", {F32({2, 3}, {1, 0, 0, 4, 5, 0})}},
         {"torch.diagonal(x0, 1)", {F32({2}, {2, 6})}},
         {"torch.diagonal(x0, -1)", {F32({1}, {4})}},
         {"torch.diag(torch.select(x0, 0, 0), -1)",
          {F32({4, 4}, {0, 0, 0, 0, 1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 3, 0})}},
         {"torch.trace(x0)", {F32({}, {6})}},
         {"torch.unfold(x0, 1, 2, 1)",
          {F32({2, 2, 2}, {1, 2, 2, 3, 4, 5, 5, 6})}}});
}

TEST(Movement, Padding) {
  const Numbers row = F32({1, 3}, {1, 2, 3});
  Check(
      {row},
      {{"torch.constant_pad_nd(x0, [1, 0, 0, 1], 9)",
        {F32({2, 4}, {9, 1, 2, 3, 9, 9, 9, 9})}},
       {"torch.constant_pad_nd(x0, [-1, 1])", {F32({1, 3}, {2, 3, 0})}},
       {"torch.pad(x0, [2, 1], \"reflect\")",
        {F32({1, 6}, {3, 2, 1, 2, 3, 2})}},
       {"torch.pad(x0, [1, 2], \"replicate\")",
        {F32({1, 6}, {1, 1, 2, 3, 3, 3})}},
       {"torch.pad(x0, [1, 1], \"circular\")", {F32({1, 5}, {3, 1, 2, 3, 1})}},
       {"torch.reflection_pad1d(x0, [1, 1])", {F32({1, 5}, {2, 1, 2, 3, 2})}},
       {"torch.replication_pad1d(x0, [0, 1])", {F32({1, 4}, {1, 2, 3, 3})}}});
}

TEST(Movement, ByIndex) {
  const Numbers index = I64({2}, {2, -1});
  Check({kMatrix, index},
        {{"torch.index_select(x0, 1, torch.abs(x1))",
          {F32({2, 2}, {3, 2, 6, 5})}},
         {"torch.index(x0, [None, x1])", {F32({2, 2}, {3, 3, 6, 6})}},
         {"torch.index(x0, [torch.tensor([0, 1]), x1])", {F32({2}, {3, 6})}},
         {"torch.index(torch.unsqueeze(x0, 0), [torch.tensor([0, 0]), None, "
          "torch.abs(x1)])",
          {F32({2, 2}, {3, 6, 2, 5})}},
         {"torch.gather(x0, 1, torch.tensor([[0, 2], [1, 1]]))",
          {F32({2, 2}, {1, 3, 5, 5})}},
         {"torch.take(x0, x1)", {F32({2}, {3, 6})}},
         {"torch.take_along_dim(x0, torch.tensor([[2], [0]]), 1)",
          {F32({2, 1}, {3, 4})}},
         {"torch.index(x0, [torch.gt(x0, 3)])", {F32({3}, {4, 5, 6})}},
         {"torch.masked_select(x0, torch.gt(x0, 4))", {F32({2}, {5, 6})}},
         {"torch.nonzero(torch.gt(x0, 4))", {I64({2, 2}, {1, 1, 1, 2})}},
         {"(torch.where(torch.gt(x0, 4)))[1]", {I64({2}, {1, 2})}},
         {"torch.embedding(torch.t(x0), torch.abs(x1))",
          {F32({2, 2}, {3, 6, 2, 5})}},
         {"torch.one_hot(torch.abs(x1), 3)", {I64({2, 3}, {0, 0, 1, 0, 1, 0})}},
         {"torch.bucketize(x0, torch.tensor([2., 4.]))",
          {I64({2, 3}, {0, 0, 1, 1, 2, 2})}},
         {"torch.searchsorted(torch.tensor([2., 4.]), x0, right=True)",
          {I64({2, 3}, {0, 1, 1, 2, 2, 2})}},
         // Each row of the sorted numbers belongs to a row of the values.
         {"torch.searchsorted(x0, torch.tensor([[2., 9.], [4., 5.]]))",
          {I64({2, 2}, {1, 3, 0, 1})}},
         {"torch.searchsorted(x0, torch.tensor([[2., 9.], [4., 5.]]), "
          "side=\"right\")",
          {I64({2, 2}, {2, 3, 1, 2})}},
         {"torch.searchsorted(torch.neg(x0), torch.tensor([[-2.5], [-4.]]), "
          "sorter=torch.tensor([[2, 1, 0], [2, 1, 0]]))",
          {I64({2, 1}, {1, 2})}},
         {"torch.searchsorted(torch.tensor([2., 4.]), 3)", {I64({}, {1})}}});
}

TEST(Movement, WritesByIndex) {
  Check(
      {kMatrix},
      {{"torch.scatter(x0, 1, torch.tensor([[0], [2]]), 9.)",
        {F32({2, 3}, {9, 2, 3, 4, 5, 9})}},
       {"torch.scatter(x0, 1, torch.tensor([[0], [2]]), torch.neg(x0))",
        {F32({2, 3}, {-1, 2, 3, 4, 5, -4})}},
       {"torch.scatter_add(x0, 0, torch.tensor([[0, 0, 1]]), x0)",
        {F32({2, 3}, {2, 4, 3, 4, 5, 9})}},
       {"torch.scatter_reduce(x0, 0, torch.tensor([[1, 1, 1]]), "
        "torch.mul(x0, 5), \"amax\")",
        {F32({2, 3}, {1, 2, 3, 5, 10, 15})}},
       {"torch.scatter_reduce(x0, 0, torch.tensor([[1, 1, 0]]), "
        "torch.neg(x0), \"amax\", include_self=False)",
        {F32({2, 3}, {1, 2, -3, -1, -2, 6})}},
       {"torch.scatter_reduce(x0, 0, torch.tensor([[0, 0, 0]]), x0, \"sum\", "
        "include_self=False)",
        {F32({2, 3}, {1, 2, 3, 4, 5, 6})}},
       {"torch.scatter_reduce(x0, 0, torch.tensor([[0, 0, 1], [0, 1, 1]]), "
        "x0, \"mean\")",
        {F32({2, 3}, {2, 2, 3, 4, 5, 5})}},
       {"torch.scatter_reduce(x0, 0, torch.tensor([[1, 1, 1], [1, 0, 1]]), "
        "x0, \"mean\", include_self=False)",
        {F32({2, 3}, {1, 5, 3, 2.5, 2, 4.5})}},
       {"torch.index_reduce(x0, 0, torch.tensor([1, 1]), x0, \"prod\", "
        "include_self=False)",
        {F32({2, 3}, {1, 2, 3, 4, 10, 18})}},
       {"torch.index_reduce(x0, 0, torch.tensor([1, 1]), torch.neg(x0), "
        "\"amin\")",
        {F32({2, 3}, {1, 2, 3, -4, -5, -6})}},
       {"torch.index_add(x0, 1, torch.tensor([0, 0]), torch.ones([2, 2]))",
        {F32({2, 3}, {3, 2, 3, 6, 5, 6})}},
       {"torch.index_copy(x0, 0, torch.tensor([1]), torch.zeros([1, 3]))",
        {F32({2, 3}, {1, 2, 3, 0, 0, 0})}},
       {"torch.index_fill(x0, 1, torch.tensor([1]), 8)",
        {F32({2, 3}, {1, 8, 3, 4, 8, 6})}},
       {"torch.index_put(x0, [torch.gt(x0, 4)], torch.tensor(0.))",
        {F32({2, 3}, {1, 2, 3, 4, 0, 0})}},
       {"torch.index_put(x0, [torch.gt(x0, 4)], torch.tensor([7., 8.]))",
        {F32({2, 3}, {1, 2, 3, 4, 7, 8})}},
       {"torch.index_put(x0, [torch.tensor([1, 0]), torch.tensor([0, 2])], "
        "torch.tensor([7., 8.]))",
        {F32({2, 3}, {1, 2, 8, 7, 5, 6})}},
       {"torch.index_put(x0, [None, torch.tensor([0, 0])], torch.ones([2, 2]), "
        "True)",
        {F32({2, 3}, {3, 2, 3, 6, 5, 6})}}});
}

TEST(Movement, Reductions) {
  Check({kMatrix},
        {{"torch.sum(x0)", {F32({}, {21})}},
         {"torch.sum(x0, [0])", {F32({3}, {5, 7, 9})}},
         {"torch.sum(x0, [-1], True)", {F32({2, 1}, {6, 15})}},
         {"torch.mean(x0)", {F32({}, {3.5})}},
         {"torch.mean(x0, [1])", {F32({2}, {2, 5})}},
         {"torch.prod(x0)", {F32({}, {720})}},
         {"torch.prod(x0, 1)", {F32({2}, {6, 120})}},
         {"torch.var(x0)", {F32({}, {3.5})}},
         {"torch.var(x0, [1], False)", {F32({2}, {2.0 / 3, 2.0 / 3})}},
         {"torch.var(x0, [1], correction=0, keepdim=True)",
          {F32({2, 1}, {2.0 / 3, 2.0 / 3})}},
         {"torch.std(x0, [1])", {F32({2}, {1, 1})}},
         {"(torch.var_mean(x0, [1]))[1]", {F32({2}, {2, 5})}},
         {"torch.max(x0)", {F32({}, {6})}},
         {"torch.amin(x0, [0])", {F32({3}, {1, 2, 3})}},
         {"torch.max(x0, 1)", {F32({2}, {3, 6}), I64({2}, {2, 2})}},
         {"torch.min(x0, 0, True)",
          {F32({1, 3}, {1, 2, 3}), I64({1, 3}, {0, 0, 0})}},
         {"torch.argmax(x0)", {I64({}, {5})}},
         {"torch.argmin(x0, 1, True)", {I64({2, 1}, {0, 0})}},
         {"torch.all(torch.gt(x0, 1))", {Bools({}, {0})}},
         {"torch.any(torch.gt(x0, 3), 1)", {Bools({2}, {0, 1})}},
         {"torch.count_nonzero(torch.gt(x0, 3))", {I64({}, {3})}},
         {"torch.norm(x0)", {F32({}, {std::sqrt(91.0)})}},
         {"torch.norm(x0, 1, [1])", {F32({2}, {6, 15})}},
         {"torch.linalg_vector_norm(x0, inf, [1])", {F32({2}, {3, 6})}},
         {"torch.logsumexp(x0, [1])",
          {F32({2}, {3 + std::log(1 + std::exp(-1) + std::exp(-2)),
                     6 + std::log(1 + std::exp(-1) + std::exp(-2))})}},
         {"torch.cumsum(x0, 1)", {F32({2, 3}, {1, 3, 6, 4, 9, 15})}},
         {"torch.cumprod(x0, 0)", {F32({2, 3}, {1, 2, 3, 4, 10, 18})}},
         {"torch.topk(x0, 2)",
          {F32({2, 2}, {3, 2, 6, 5}), I64({2, 2}, {2, 1, 2, 1})}},
         {"torch.sort(x0, 1, True)",
          {F32({2, 3}, {3, 2, 1, 6, 5, 4}), I64({2, 3}, {2, 1, 0, 2, 1, 0})}},
         {"torch.argsort(torch.neg(x0), 1)", {I64({2, 3}, {2, 1, 0, 2, 1, 0})}},
         {"torch.kthvalue(x0, 2, 1)", {F32({2}, {2, 5}), I64({2}, {1, 1})}},
         {"torch.median(x0)", {F32({}, {3})}},
         {"torch.median(x0, 1)", {F32({2}, {2, 5}), I64({2}, {1, 1})}},
         {"torch.softmax(torch.zeros_like(x0), 1)",
          {F32({2, 3}, std::vector<double>(6, 1.0 / 3))}},
         {"torch.log_softmax(torch.zeros_like(x0), 1)",
          {F32({2, 3}, std::vector<double>(6, -std::log(3.0)))}}});
}

// NaN is above all numbers, and is found by all searches.
TEST(Movement, ReductionsOfNan) {
  const Numbers x = F32({3, 4}, {NAN, 1, 2, 3, 1, NAN, NAN, 0, 2, 1, 0, 3});
  Check(
      {x},
      {{"torch.argmax(x0)", {I64({}, {0})}},
       {"torch.argmax(x0, 1)", {I64({3}, {0, 1, 3})}},
       {"torch.argmin(x0, 1)", {I64({3}, {0, 1, 2})}},
       {"torch.max(x0, 1)", {F32({3}, {NAN, NAN, 3}), I64({3}, {0, 1, 3})}},
       {"torch.min(x0, 1)", {F32({3}, {NAN, NAN, 0}), I64({3}, {0, 1, 2})}},
       {"torch.amax(x0, [1])", {F32({3}, {NAN, NAN, 3})}},
       {"torch.median(x0, 1)", {F32({3}, {NAN, NAN, 1}), I64({3}, {0, 1, 1})}},
       {"torch.median(x0)", {F32({}, {NAN})}},
       {"torch.sort(x0, 1)",
        {F32({3, 4}, {1, 2, 3, NAN, 0, 1, NAN, NAN, 0, 1, 2, 3}),
         I64({3, 4}, {1, 2, 3, 0, 3, 0, 1, 2, 2, 1, 0, 3})}},
       {"torch.topk(x0, 1)",
        {F32({3, 1}, {NAN, NAN, 3}), I64({3, 1}, {0, 1, 3})}},
       {"torch.kthvalue(x0, 3, 1)",
        {F32({3}, {3, NAN, 2}), I64({3}, {3, 1, 0})}}});
  Check({F32({4}, {NAN, 0, 2, 9}), F32({3}, {0, 1, 2})},
        {{"torch.bucketize(x0, x1)", {I64({4}, {3, 0, 2, 3})}},
         {"torch.bucketize(x0, x1, right=True)", {I64({4}, {3, 1, 3, 3})}}});
}

TEST(Movement, Creation) {
  Check({kMatrix},
        {{"torch.zeros([2], dtype=4)", {I64({2}, {0, 0})}},
         {"torch.ones_like(x0, dtype=3)",
          {I32({2, 3}, std::vector<double>(6, 1))}},
         {"torch.full([2], 2.5)", {F32({2}, {2.5, 2.5})}},
         {"torch.full([2], 3)", {I64({2}, {3, 3})}},
         {"torch.full_like(x0, 2)", {F32({2, 3}, std::vector<double>(6, 2))}},
         {"torch.new_full(x0, [1], 2)", {F32({1}, {2})}},
         {"torch.arange(3)", {I64({3}, {0, 1, 2})}},
         {"torch.arange(1, 7, 2)", {I64({3}, {1, 3, 5})}},
         {"torch.arange(3, 0, -1)", {I64({3}, {3, 2, 1})}},
         {"torch.arange(0., 1., 0.25)", {F32({4}, {0, 0.25, 0.5, 0.75})}},
         {"torch.arange(torch.size(x0, 1), dtype=6)", {F32({3}, {0, 1, 2})}},
         {"torch.linspace(0, 1, 5)", {F32({5}, {0, 0.25, 0.5, 0.75, 1})}},
         {"torch.eye(2)", {F32({2, 2}, {1, 0, 0, 1})}},
         {"torch.tensor([[1, 2], [3, 4]])", {I64({2, 2}, {1, 2, 3, 4})}},
         {"torch.tensor([1.5, 2])", {F32({2}, {1.5, 2})}},
         {"(torch.meshgrid([torch.arange(2), torch.arange(3)]))[1]",
          {I64({2, 3}, {0, 1, 2, 0, 1, 2})}},
         {"torch.dropout(x0, 0.5, True)", {kMatrix}},
         {"torch.contiguous(torch.detach(x0))", {kMatrix}}});
}

}  // namespace
}  // namespace ember::tests
