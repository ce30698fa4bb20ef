// Tests which tensors share memory: writes to views, tensors that change their
// own shape, copies, and buffers of one storage.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "frontends/torchscript/testing/archive_builder.h"
#include "tests/torchscript/import_archive.h"
#include "tests/torchscript/one_operator.h"

namespace ember::tests {
namespace {

using torchscript::ArchiveBuilder;

const Numbers kSix = F32({2, 3}, {1, 2, 3, 4, 5, 6});
const Numbers kNo = {DType::kBool, {}, {0}};
const Numbers kYes = {DType::kBool, {}, {1}};

void ExpectRefused(const std::string& body, const std::vector<Numbers>& inputs,
                   const std::string& message) {
  const auto failed = RunTorch(body, inputs);
  ASSERT_FALSE(failed.ok()) << body;
  EXPECT_NE(failed.status().message().find(message), std::string::npos)
      << failed.status().message();
}

TEST(Aliasing, DiagonalsAreViews) {
  ExpectNumbers(RunTorch("y = torch.mul(x0, 1)\n"
                         "d = torch.diagonal(y, 1)\n"
                         "_0 = torch.fill_(d, 0)\n"
                         "_1 = torch.add_(y, 1)\n"
                         "return (y, d)",
                         {kSix}),
                {F32({2, 3}, {2, 1, 4, 5, 6, 1}), F32({2}, {1, 1})});
  ExpectNumbers(RunTorch("_0 = torch.fill_(torch.diagonal(x0, -1), 0)\n"
                         "return x0",
                         {kSix}),
                {F32({2, 3}, {1, 2, 3, 0, 5, 6})});
  ExpectNumbers(RunTorch("d = torch.diagonal(x0, 0, 0, 2)\n"
                         "_0 = torch.fill_(d, 0)\n"
                         "return x0",
                         {F32({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}),
                {F32({2, 2, 2}, {0, 2, 0, 4, 5, 0, 7, 0})});
  // The diagonal at offset -5 has no elements, so nothing is written.
  ExpectNumbers(RunTorch("_0 = torch.fill_(torch.diagonal(x0, -5), 0)\n"
                         "return x0",
                         {kSix}),
                {kSix});
}

TEST(Aliasing, WindowsAreViews) {
  ExpectNumbers(
      RunTorch("u = torch.unfold(x0, 0, 2, 3)\n"
               "_0 = torch.mul_(u, 10)\n"
               "_1 = torch.add_(x0, 1)\n"
               "return (x0, u)",
               {F32({7}, {1, 2, 3, 4, 5, 6, 7})}),
      {F32({7}, {11, 21, 4, 41, 51, 7, 8}), F32({2, 2}, {11, 21, 41, 51})});
  ExpectNumbers(RunTorch("u = torch.unfold(x0, 0, 1, 1)\n"
                         "_0 = torch.fill_(torch.select(u, 0, 1), 0)\n"
                         "return x0",
                         {kSix}),
                {F32({2, 3}, {1, 2, 3, 0, 0, 0})});
  ExpectRefused("_0 = torch.mul_(torch.unfold(x0, 1, 2, 1), 10)\nreturn x0",
                {kSix}, "found one that repeats");
}

TEST(Aliasing, StridedTensorsAreViews) {
  ExpectNumbers(RunTorch("a = torch.as_strided(x0, [2], [2], 1)\n"
                         "_0 = torch.fill_(a, 0)\n"
                         "_1 = torch.add_(x0, 1)\n"
                         "return (x0, a)",
                         {kSix}),
                {F32({2, 3}, {2, 1, 4, 1, 6, 7}), F32({2}, {1, 1})});
  ExpectNumbers(
      RunTorch("v = torch.view(x0, [6])\n"
               "_0 = torch.copy_(torch.as_strided(v, [3, 2], [1, 3]), x1)\n"
               "return x0",
               {kSix, F32({3, 2}, {10, 11, 12, 13, 14, 15})}),
      {F32({2, 3}, {10, 12, 14, 11, 13, 15})});
  ExpectRefused(
      "_0 = torch.mul_(torch.as_strided(x0, [4, 3], [1, 1]), 10)\nreturn x0",
      {kSix}, "found one that repeats");
  ExpectRefused("return torch.as_strided(torch.select(x0, 0, 1), [2], [1])",
                {kSix}, "expected a tensor that is no view of a part");
}

TEST(Aliasing, ComplexViews) {
  const Numbers x = F32({2, 2}, {1, 2, 3, 4});
  ExpectNumbers(RunTorch("z = torch.view_as_complex(x0)\n"
                         "r = torch.view_as_real(z)\n"
                         "_0 = torch.fill_(torch.select(r, 1, 1), 0)\n"
                         "_1 = torch.add_(x0, 1)\n"
                         "return (x0, r)",
                         {x}),
                {F32({2, 2}, {2, 1, 4, 1}), F32({2, 2}, {2, 1, 4, 1})});
  // Parts of complex tensors are views, too.
  ExpectNumbers(RunTorch("z = torch.view_as_complex(x0)\n"
                         "_0 = torch.mul_(torch.select(z, 0, 1), 10)\n"
                         "_1 = torch.neg_(torch.real(z))\n"
                         "_2 = torch.add_(torch.imag(z), 100)\n"
                         "return x0",
                         {x}),
                {F32({2, 2}, {-1, 102, -30, 140})});
  ExpectNumbers(RunTorch("z = torch.view_as_complex(x0)\n"
                         "c = torch.conj(z)\n"
                         "_0 = torch.add_(x0, 1)\n"
                         "return torch.view_as_real(torch.resolve_conj(c))",
                         {x}),
                {F32({2, 2}, {2, -3, 4, -5})});
}

TEST(Aliasing, ViewsOfAnotherType) {
  const Numbers floats = F32({3}, {1, 2, -3});
  const Numbers bits = {
      DType::kI32, {3}, {0x3f800000, 0x40000000, -0x3fc00000}};
  ExpectNumbers(RunTorch("return torch.view(x0, 3)", {floats}), {bits});
  ExpectNumbers(RunTorch("return torch.view(x0, dtype=3)", {floats}), {bits});
  ExpectNumbers(RunTorch("return torch.view(x0, [3, 1])", {floats}),
                {F32({3, 1}, {1, 2, -3})});
  // Clears the signs.
  ExpectNumbers(RunTorch("b = torch.view(x0, 3)\n"
                         "_0 = torch.bitwise_and_(b, 2147483647)\n"
                         "return x0",
                         {floats}),
                {F32({3}, {1, 2, 3})});
  // A view of another type reads what the tensor holds at that time, and
  // writing to a part of the view changes the tensor.
  ExpectNumbers(RunTorch("b = torch.view(x0, 3)\n"
                         "_0 = torch.fill_(torch.slice(b, 0, 1, 2), 0)\n"
                         "_1 = torch.mul_(x0, 2)\n"
                         "return (x0, torch.view(b, 6))",
                         {floats}),
                {F32({3}, {2, 0, -6}), F32({3}, {2, 0, -6})});
  ExpectRefused("return torch.view(x0, 7)", {floats},
                "dtype: expected a type with the width of f32");
}

TEST(Aliasing, QuantizedViews) {
  ExpectNumbers(RunTorch("q = torch.quantize_per_tensor(x0, 0.5, 0, 12)\n"
                         "v = torch.select(q, 0, 1)\n"
                         "_0 = torch.relu_(torch.unsqueeze_(v, 1))\n"
                         "return (torch.dequantize(q), torch.dequantize(v))",
                         {F32({2, 2}, {-1, 2, -3, 4})}),
                {F32({2, 2}, {-1, 2, 0, 4}), F32({2, 1}, {0, 4})});
}

TEST(Aliasing, ListsOfExpandedTensors) {
  for (const std::string name :
       {"torch.broadcast_tensors([x0, x1])", "torch.meshgrid([x0, x1])"}) {
    const auto results = RunTorch("a, b, = " + name +
                                      "\n"
                                      "_0 = torch.add_(x0, 1)\n"
                                      "return torch.mul(a, 1)",
                                  {F32({2}, {1, 2}), F32({1}, {0})});
    ASSERT_TRUE(results.ok()) << results.status().message();
    EXPECT_EQ(results->front().values, std::vector<double>({2, 3})) << name;
  }
}

TEST(Aliasing, Copies) {
  ExpectNumbers(RunTorch("a = torch.to(x0, 6, False, True)\n"
                         "b = torch.to(x0, 6)\n"
                         "c = torch.as_tensor(x0)\n"
                         "_0 = torch.add_(a, 10)\n"
                         "_1 = torch.add_(b, 1)\n"
                         "_2 = torch.mul_(c, 2)\n"
                         "return (x0, a)",
                         {F32({2}, {1, 2})}),
                {F32({2}, {4, 6}), F32({2}, {11, 12})});
}

TEST(Aliasing, ShapesThatChangeInPlace) {
  // transpose_ changes the shape of y in place. Its view v keeps its own shape,
  // and z, another name of y, has the new shape.
  ExpectNumbers(RunTorch("y = torch.mul(x0, 1)\n"
                         "v = torch.view(y, [-1])\n"
                         "z = y\n"
                         "_0 = torch.transpose_(y, 0, 1)\n"
                         "_1 = torch.fill_(torch.select(v, 0, 1), 100)\n"
                         "_2 = torch.fill_(torch.select(z, 0, 0), 7)\n"
                         "return (z, v)",
                         {F32({2, 2}, {1, 2, 3, 4})}),
                {F32({2, 2}, {7, 7, 100, 4}), F32({4}, {7, 100, 7, 4})});
  ExpectNumbers(RunTorch("y = torch.mul(x0, 1)\n"
                         "_0 = torch.unsqueeze_(torch.t_(y), 0)\n"
                         "_1 = torch.add_(y, 1)\n"
                         "_2 = torch.squeeze_(torch.swapaxes_(y, 0, 2))\n"
                         "return y",
                         {kSix}),
                {F32({2, 3}, {2, 3, 4, 5, 6, 7})});
  // A tensor whose shape is changed in place may itself be a view.
  ExpectNumbers(RunTorch("y = torch.select(x0, 0, 1)\n"
                         "_0 = torch.unsqueeze_(y, 1)\n"
                         "_1 = torch.fill_(torch.select(y, 0, 2), 0)\n"
                         "return (x0, y)",
                         {kSix}),
                {F32({2, 3}, {1, 2, 3, 4, 5, 0}), F32({3, 1}, {4, 5, 0})});
  // detach and expand return new tensors, so changing their shape leaves the
  // original's as it is; torch.to returns the same tensor here.
  ExpectNumbers(RunTorch("_0 = torch.unsqueeze_(torch.detach(x0), 0)\n"
                         "e = torch.expand(torch.select(x1, 0, 0), [2])\n"
                         "_1 = torch.unsqueeze_(torch.detach(e), 0)\n"
                         "_2 = torch.unsqueeze_(torch.to(e, 6), 1)\n"
                         "_3 = torch.add_(torch.detach_(_0), 1)\n"
                         "_4 = torch.fill_(_1, 0)\n"
                         "return (x0, x1, e)",
                         {F32({1}, {1}), F32({1, 2}, {5, 6})}),
                {F32({1}, {2}), F32({1, 2}, {0, 0}), F32({2, 1}, {0, 0})});
  ExpectRefused(
      "if bool(torch.gt(torch.sum(x0), 0)):\n"
      "  _0 = torch.unsqueeze_(x0, 0)\n"
      "else:\n"
      "  pass\n"
      "return x0",
      {kSix}, "call the operator without the '_'");
}

TEST(Aliasing, BuffersThatChangeTheirShape) {
  ArchiveBuilder archive;
  archive.Code(R"(class Net(Module):
  w : Tensor
  def forward(self: __torch__.Net,
    x0: Tensor) -> Tensor:
    _0 = torch.t_(self.w)
    return torch.mul(self.w, x0)
)");
  const std::string bytes = BytesOf(F32({2, 2}, {1, 2, 3, 4}));
  archive.Tensor("w", DType::kF32, {2, 2}, {bytes.begin(), bytes.end()});
  archive.TracedInput(DType::kF32, {1});
  const Numbers one = F32({1}, {1});
  const Numbers turned = F32({2, 2}, {1, 3, 2, 4});
  const std::string file = archive.Finish();
  ExpectNumbers(RunTorchArchive(file, {one, F32({2, 2}, {0, 0, 0, 0}), kNo}),
                {turned, turned, kYes});
  const Numbers back = F32({2, 2}, {1, 2, 3, 4});
  ExpectNumbers(RunTorchArchive(file, {one, turned, kYes}), {back, back, kYes});
}

TEST(Aliasing, BuffersOfOneStorage) {
  const std::string bytes = BytesOf(kSix);
  const std::string code = R"(class Net(Module):
  a : Tensor
  b : Tensor
  def forward(self: __torch__.Net,
    x0: Tensor) -> Tensor:
    _0 = torch.add_(self.b, x0)
    return torch.mul(self.a, 1)
)";
  {
    // The buffer b is a column of the buffer a.
    ArchiveBuilder archive;
    archive.Code(code);
    archive.Tensor("a", DType::kF32, {2, 3}, {bytes.begin(), bytes.end()});
    archive.View("b", "0", DType::kF32, {2}, {3}, 1);
    archive.TracedInput(DType::kF32, {2});
    const Numbers after = F32({2, 3}, {1, 12, 3, 4, 25, 6});
    const std::string file = archive.Finish();
    ExpectNumbers(RunTorchArchive(file, {F32({2}, {10, 20}),
                                         F32({2, 3}, {0, 0, 0, 0, 0, 0}),
                                         F32({2}, {0, 0}), kNo}),
                  {after, after, F32({2}, {12, 25}), kYes});
    // A later call gets both buffers as state, and b must still be a column of
    // a.
    const Numbers later = F32({2, 3}, {1, 13, 3, 4, 27, 6});
    ExpectNumbers(RunTorchArchive(file, {F32({2}, {1, 2}), after,
                                         F32({2}, {12, 25}), kYes}),
                  {later, later, F32({2}, {13, 27}), kYes});
  }
  {
    // The buffers a and b overlap, and neither is the whole storage.
    ArchiveBuilder archive;
    archive.Code(code);
    archive.Tensor("all", DType::kF32, {2, 3}, {bytes.begin(), bytes.end()});
    archive.View("a", "0", DType::kF32, {4}, {1}, 0);
    archive.View("b", "0", DType::kF32, {4}, {1}, 2);
    archive.TracedInput(DType::kF32, {1});
    const auto results = RunTorchArchive(
        archive.Finish(),
        {F32({1}, {10}), F32({4}, {0, 0, 0, 0}),
         F32({2, 3}, {0, 0, 0, 0, 0, 0}), F32({4}, {0, 0, 0, 0}), kNo});
    ASSERT_TRUE(results.ok()) << results.status().message();
    EXPECT_EQ(results->front().values, std::vector<double>({1, 2, 13, 14}));
  }
}

// A write to a buffer would change the bits that another buffer of the same
// storage reads as numbers of another type.
TEST(Aliasing, BuffersOfOneStorageAndTwoTypes) {
  const auto file = [](const std::string& statement) {
    ArchiveBuilder archive;
    archive.Code(R"(class Net(Module):
  a : Tensor
  bits : Tensor
  def forward(self: __torch__.Net,
    x0: Tensor) -> Tensor:
    )" + statement +
                 R"(
    return torch.add(torch.mul(self.bits, 1), x0)
)");
    const std::string bytes = BytesOf(F32({2}, {1, 2}));
    archive.Tensor("a", DType::kF32, {2}, {bytes.begin(), bytes.end()});
    archive.View("bits", "0", DType::kI32, {2}, {1}, 0);
    archive.TracedInput(DType::kI32, {1});
    return archive.Finish();
  };
  const Numbers x = {DType::kI32, {1}, {1}};
  ExpectNumbers(RunTorchArchive(file("_0 = torch.add(self.a, 1)"), {x}),
                {{DType::kI32, {2}, {0x3f800001, 0x40000001}}});
  for (const std::string written : {"self.a", "self.bits"}) {
    const auto refused =
        RunTorchArchive(file("_0 = torch.add_(" + written + ", 1)"), {x});
    ASSERT_FALSE(refused.ok());
    EXPECT_NE(refused.status().message().find(
                  "shares its memory with a tensor of another type"),
              std::string::npos)
        << refused.status().message();
  }
}

}  // namespace
}  // namespace ember::tests
