// Tests code of several statements, fused operators against the operators that
// they consist of, and open dims. Single operators are in cases/.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/torchscript/one_operator.h"

namespace ember::tests {
namespace {

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
  // The mask hides the second key, so it gets the weight 0.
  ExpectTorch(
      "(torch._native_multi_head_attention(x0, x0, x0, 2, 1, x1, x2, x3, x4, "
      "x5, True, True, 1))[1]",
      {x, in, bias, out, two, {DType::kBool, {1, 2}, {0, 1}}},
      {F32({1, 2, 2}, {1, 0, 1, 0})});
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

TEST(Operators, AntialiasingOfOpenImages) {
  const Numbers x = F32({1, 1, 1, 4}, {1, 2, 3, 4});
  frontends::ImportOptions options;
  options.input_shapes["x0"] = {1, 1, 1, std::nullopt};
  ExpectNumbers(
      RunTorchArchive(
          TorchArchive(
              "return torch._upsample_bilinear2d_aa(x0, [1, 2], False, None)",
              {x}),
          {x}, options),
      {F32({1, 1, 1, 2}, {12.0 / 7, 23.0 / 7})}, 1e-6);
}

}  // namespace
}  // namespace ember::tests
