// Tests branches and loops of whole models that the run decides.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "frontends/torchscript/testing/archive_builder.h"
#include "frontends/torchscript/testing/sample_models.h"
#include "tests/torchscript/import_archive.h"
#include "tests/torchscript/one_operator.h"

namespace ember::tests {
namespace {

using torchscript::ArchiveBuilder;
using torchscript::SampleModel;

const Numbers kInput = F32({2, 3}, {1, 2, 3, 4, 5, 6});

TEST(ControlFlow, BranchesThatTheRunDecides) {
  ExpectNumbers(RunTorchArchive(SampleModel("branch"), {kInput}),
                {F32({2, 3}, {2, 4, 6, 8, 10, 12}), I64({}, {2})});
  const Numbers negative = F32({2, 3}, {-1, -2, 0, 0, 0, 0});
  ExpectNumbers(RunTorchArchive(SampleModel("branch"), {negative}),
                {F32({2, 3}, {1, 2, 0, 0, 0, 0}), I64({}, {-1})});
  const Numbers large = F32({2, 3}, {999, 2, 0, 0, 0, 0});
  const auto failed = RunTorchArchive(SampleModel("branch"), {large});
  ASSERT_FALSE(failed.ok());
  EXPECT_NE(failed.status().message().find("too large: 1000"),
            std::string::npos)
      << failed.status().message();
}

TEST(ControlFlow, LoopsThatTheRunEnds) {
  ExpectNumbers(RunTorchArchive(SampleModel("loop"), {kInput}),
                {F32({2, 3}, {8, 16, 24, 32, 40, 48}), I64({}, {3})});
  const Numbers enough = F32({2, 3}, {100, 0, 0, 0, 0, 0});
  ExpectNumbers(RunTorchArchive(SampleModel("loop"), {enough}),
                {enough, I64({}, {0})});
}

// Tests torch.all and torch.any of lists of known booleans, which scripted
// vision transformers contain. The import must decide such branches.
TEST(ControlFlow, TruthOfLists) {
  const std::string body =
      "y = x0\n"
      "if torch.all([True, False]):\n"
      "  y = torch.zeros_like(y)\n"
      "if torch.any([False, True]):\n"
      "  y = torch.add(y, 1)\n"
      "if torch.all(annotate(List[bool], [])):\n"
      "  y = torch.mul(y, 2)\n"
      "return y";
  ExpectNumbers(RunTorch(body, {F32({2}, {1, 2})}), {F32({2}, {4, 6})});
}

TEST(ControlFlow, WritesInBranchesAreMerged) {
  const std::string body =
      "y = torch.clone(x0)\n"
      "if bool(torch.gt(torch.sum(x0), 0)):\n"
      "  _0 = torch.add_(torch.select(y, 0, 0), 1)\n"
      "else:\n"
      "  _1 = torch.zero_(y)\n"
      "return y";
  ExpectNumbers(RunTorch(body, {F32({2}, {1, 2})}), {F32({2}, {2, 2})});
  ExpectNumbers(RunTorch(body, {F32({2}, {-1, 0})}), {F32({2}, {0, 0})});
}

// If only one branch changes a value, the other branch must return the value
// unchanged. It captures the value after the values that it has captured so
// far.
TEST(ControlFlow, WhatOneBranchAloneChanges) {
  const std::string body =
      "e = x2\n"
      "if bool(torch.gt(torch.sum(x0), 0)):\n"
      "  a = torch.mul(x0, 2)\n"
      "else:\n"
      "  a = torch.add(x1, 1)\n"
      "  e = torch.mul(x1, 3)\n"
      "return torch.add(a, torch.mul(e, 100))";
  const Numbers x1 = F32({2}, {10, 20}), x2 = F32({2}, {5, 6});
  ExpectNumbers(RunTorch(body, {F32({2}, {1, 2}), x1, x2}),
                {F32({2}, {502, 604})});
  ExpectNumbers(RunTorch(body, {F32({2}, {-1, -2}), x1, x2}),
                {F32({2}, {3011, 6021})});
}

TEST(ControlFlow, LoopsOverOpenExtents) {
  // The loop has an iteration for each row of x, whose number is open.
  ArchiveBuilder archive;
  archive.Code(R"(class Net(Module):
  def forward(self: __torch__.Net,
    x: Tensor) -> Tensor:
    total = torch.zeros([3])
    for i in range(torch.size(x, 0)):
      total = torch.add(total, torch.mul(torch.select(x, 0, i), i))
    return total
)");
  frontends::ImportOptions options;
  options.input_shapes["x"] = {std::nullopt, 3};
  ExpectNumbers(RunTorchArchive(archive.Finish(), {kInput}, options),
                {F32({3}, {4, 5, 6})});
}

TEST(ControlFlow, LoopsOfDataCallModules) {
  ArchiveBuilder archive;
  archive.Code(R"(class Net(Module):
  cell : __torch__.Cell
  def forward(self: __torch__.Net,
    x: Tensor) -> Tensor:
    y = x
    go = True
    while go:
      cell = self.cell
      y = (cell).step(y, )
      go = bool(torch.lt(torch.sum(y), 100))
    return y
class Cell(Module):
  by : int
  def step(self: __torch__.Cell,
    x: Tensor) -> Tensor:
    return torch.mul(x, self.by)
)");
  archive.Begin("cell", "__torch__.Cell");
  archive.Integer("by", 3);
  archive.End();
  archive.TracedInput(DType::kF32, {1});
  ExpectNumbers(RunTorchArchive(archive.Finish(), {F32({1}, {2})}),
                {F32({1}, {162})});
}

TEST(ControlFlow, ListsDoNotChangeWhereTheRunDecides) {
  const auto failed = RunTorch(
      "parts = [x0]\n"
      "if bool(torch.gt(torch.sum(x0), 0)):\n"
      "  _0 = torch.append(parts, x0)\n"
      "else:\n"
      "  pass\n"
      "return torch.cat(parts)",
      {F32({1}, {1})});
  ASSERT_FALSE(failed.ok());
  EXPECT_NE(failed.status().message().find("changing a list in a branch"),
            std::string::npos)
      << failed.status().message();
}

// These lists contain themselves. Each search through lists must end, and must
// charge the operation limit for each item.
constexpr char kHoldsItself[] =
    "l = annotate(List[int], [])\n"
    "_0 = torch.append(l, l)\n"
    "_1 = torch.append(l, l)\n";

TEST(ControlFlow, LoopsCarryNoListThatHoldsItself) {
  const std::string body = std::string(kHoldsItself) +
                           "while bool(torch.gt(torch.sum(x0), 0)):\n"
                           "  l = l\n"
                           "  x0 = torch.neg(x0)\n"
                           "return x0";
  ExpectError(TorchArchive(body, {kInput}),
              "expected lists that are at most 32 deep to be carried by a "
              "loop of unknown length, found 'l'");
}

TEST(ControlFlow, BranchesLeaveNoListThatHoldsItself) {
  const std::string body = std::string(kHoldsItself) +
                           "if bool(torch.gt(torch.sum(x0), 0)):\n"
                           "  l = [l, l]\n"
                           "else:\n"
                           "  l = [l, l]\n"
                           "return x0";
  ExpectError(TorchArchive(body, {kInput}),
              "code: expected at most 1000000 tensors and items of lists, "
              "found more");
}

// In torchvision's detectors a branch for an empty tensor leaves a tensor of
// another rank, which a graph cannot express. The import takes the other
// branch, and a run fails if the tensor is empty. Here the tensor's extent
// depends on data (nonzero).
TEST(ControlFlow, BranchesForEmptyTensorsOfAnotherRank) {
  for (const char* test : {"torch.gt(n, 0)", "torch.ne(n, 0)", "torch.ge(n, 1)",
                           "torch.lt(0, n)", "torch.__not__(torch.eq(n, 0))"}) {
    const std::string body =
        "places = torch.nonzero(x0)\n"
        "n = torch.size(places, 0)\n"
        "y = torch.neg(places)\n"
        "if " +
        std::string(test) +
        ":\n"
        "  y = torch.reshape(y, [n, 1, 1])\n"
        "else:\n"
        "  pass\n"
        "return y";
    ExpectNumbers(RunTorch(body, {F32({3}, {0, 5, 6})}),
                  {I64({2, 1, 1}, {-1, -2})});
    const auto empty = RunTorch(body, {F32({3}, {0, 0, 0})});
    ASSERT_FALSE(empty.ok()) << test;
    EXPECT_NE(empty.status().message().find(
                  "'y' has another rank or element type if a dim is 0"),
              std::string::npos)
        << empty.status().ToString();
  }
}

// One branch replaces a variable that holds a weight. No operator has read the
// weight before.
TEST(ControlFlow, BranchesThatReplaceAWeight) {
  ArchiveBuilder archive;
  archive.Code(R"(class Net(Module):
  __parameters__ = ["w", ]
  w : Tensor
  def forward(self: __torch__.Net,
    x0: Tensor) -> Tensor:
    y = self.w
    if bool(torch.gt(torch.sum(x0), 0)):
      y = torch.neg(x0)
    else:
      pass
    return y
)");
  const std::string weight = BytesOf(F32({2}, {5, 6}));
  archive.Tensor("w", DType::kF32, {2}, {weight.begin(), weight.end()});
  archive.TracedInput(DType::kF32, {2});
  const std::string bytes = archive.Finish();
  ExpectNumbers(RunTorchArchive(bytes, {F32({2}, {1, 2})}),
                {F32({2}, {-1, -2})});
  ExpectNumbers(RunTorchArchive(bytes, {F32({2}, {-1, -2})}),
                {F32({2}, {5, 6})});
}

// TorchScript writes a return in a loop as variables that have no value before
// the loop.
TEST(ControlFlow, ReturnsInLoopsOfData) {
  const auto body = [](const std::string& found, const std::string& last) {
    return "_0 = uninitialized(Tensor)\n"
           "n = int(x1)\n"
           "is_found = False\n"
           "result = _0\n"
           "t = torch.zeros_like(torch.select(x0, 0, 0))\n"
           "i = 0\n"
           "proceed = torch.gt(n, 0)\n"
           "while proceed:\n"
           "  t0 = torch.add(t, torch.select(x0, 0, torch.remainder(i, 2)))\n"
           "  if bool(torch.gt(torch.sum(t0), 20)):\n"
           "    more, is_found0, result0 = False, True, " +
           found +
           "\n"
           "  else:\n"
           "    more, is_found0, result0 = True, False, _0\n"
           "  i0 = torch.add(i, 1)\n"
           "  proceed0 = torch.__and__(torch.lt(i0, n), more)\n"
           "  proceed, is_found, result, t, i = proceed0, is_found0, result0, "
           "t0, i0\n"
           "if is_found:\n"
           "  y = result\n"
           "else:\n"
           "  y = " +
           last + "\nreturn y";
  };
  const auto expect = [](const std::string& code, double n,
                         const std::vector<Numbers>& expected) {
    ExpectNumbers(RunTorch(code, {kInput, I64({}, {n})}), expected);
  };
  const std::string one = body("t0", "torch.neg(t)");
  expect(one, 9, {F32({3}, {5, 7, 9})});
  expect(one, 1, {F32({3}, {-1, -2, -3})});
  expect(one, 0, {F32({3}, {0, 0, 0})});
  const std::string two = body("(t0, i)", "(torch.neg(t), -1)");
  expect(two, 9, {F32({3}, {5, 7, 9}), I64({}, {1})});
  expect(two, 1, {F32({3}, {-1, -2, -3}), I64({}, {-1})});
}

TEST(ControlFlow, ValuesThatAreNoneAsTheRunDecides) {
  const std::string start =
      "if bool(torch.gt(torch.sum(x0), 0)):\n"
      "  o : Optional[Tensor] = x0\n"
      "else:\n"
      "  o = None\n"
      "if bool(torch.gt(torch.sum(x0), 10)):\n"
      "  o0 : Optional[Tensor] = torch.neg(x0)\n"
      "else:\n"
      "  o0 = o\n";
  const std::string body = start +
                           "if torch.__is__(o0, None):\n"
                           "  y = torch.sub(x0, 10)\n"
                           "else:\n"
                           "  y = unchecked_cast(Tensor, o0)\n"
                           "if torch.__isnot__(o, None):\n"
                           "  z = 1\n"
                           "else:\n"
                           "  z = 0\n"
                           "return (y, z)";
  ExpectNumbers(RunTorch(body, {F32({1}, {2})}), {F32({1}, {2}), I64({}, {1})});
  ExpectNumbers(RunTorch(body, {F32({1}, {20})}),
                {F32({1}, {-20}), I64({}, {1})});
  ExpectNumbers(RunTorch(body, {F32({1}, {-3})}),
                {F32({1}, {-13}), I64({}, {0})});
  const auto failed = RunTorch(start + "return torch.neg(o)", {F32({1}, {1})});
  ASSERT_FALSE(failed.ok());
  EXPECT_NE(failed.status().message().find(
                "expected one kind of value, found 'o', which is a tensor "
                "f32[1] or None, as the run decides"),
            std::string::npos)
      << failed.status().message();
}

}  // namespace
}  // namespace ember::tests
