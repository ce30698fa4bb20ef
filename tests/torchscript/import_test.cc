// Tests whole models: views, inputs and results, and refused models.
#include "frontends/torchscript/import.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
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

TEST(Import, ModulesWithinModules) {
  ExpectNumbers(RunTorchArchive(SampleModel("layers"), {kInput}),
                {F32({2, 2}, {14.5, 1.5, 32.5, 1.5})});
}

TEST(Import, WritesThroughViews) {
  // The model sets row 1 to 7, then column 1 to 1, then multiplies every second
  // element by 10, all through views of one tensor.
  ExpectNumbers(RunTorchArchive(SampleModel("views"), {kInput}),
                {F32({2, 3}, {10, 1, 30, 7, 10, 7})});
}

TEST(Import, ListsDictsAndTexts) {
  ExpectNumbers(RunTorchArchive(SampleModel("texts"), {kInput}),
                {F32({2}, {(2 + 6) * 0.5, (8 + 15) * 0.5}),
                 F32({2, 3}, {2, 6, 12, 8, 15, 24})});
  const StatusOr<graph::Graph> graph = Import(SampleModel("texts"));
  ASSERT_TRUE(graph.ok());
  EXPECT_EQ(graph->output_names()[0], "y");
  EXPECT_EQ(graph->output_names()[1], "all");
}

TEST(Import, ShapesAreGiven) {
  const std::string archive =
      Forward("x: Tensor", "    return torch.relu(x)\n");
  ExpectError(archive,
              "input 'x': the model does not say how many dims it has");
  frontends::ImportOptions options;
  options.input_shapes["x"] = {std::nullopt, 3};
  EXPECT_TRUE(Import(archive, options).ok()) << ErrorOf(archive, options);
  options.input_shapes["y"] = {1};
  ExpectError(archive, "expected one of the inputs 'x', found 'y'", options);
}

TEST(Import, TypesFollowFromUse) {
  ArchiveBuilder builder;
  builder.Code(R"(class Net(Module):
  def forward(self: __torch__.Net,
    ids: Tensor,
    mask: Tensor) -> Tensor:
    table = torch.reshape(torch.arange(6, dtype=6), [3, 2])
    return torch.masked_fill(torch.embedding(table, ids), mask, -1)
)");
  frontends::ImportOptions options;
  options.input_shapes["ids"] = {2};
  options.input_shapes["mask"] = {2, 1};
  ExpectNumbers(
      RunTorchArchive(builder.Finish(),
                      {I64({2}, {2, 0}), {DType::kBool, {2, 1}, {0, 1}}},
                      options),
      {F32({2, 2}, {4, 5, -1, -1})});
}

TEST(Import, NumbersAsArguments) {
  const std::string archive =
      Forward("x: Tensor,\n    times: int,\n    plus: float=0.5",
              "    return torch.add(torch.mul(x, times), plus)\n");
  frontends::ImportOptions options;
  options.input_shapes["x"] = {2};
  ExpectNumbers(
      RunTorchArchive(archive, {F32({2}, {1, 2}), I64({}, {3})}, options),
      {F32({2}, {3.5, 6.5})});
  // A slice's step must be known at import, so a step that is an input is
  // refused.
  frontends::ImportOptions rows;
  rows.input_shapes["x"] = {4};
  const std::string slice =
      Forward("x: Tensor,\n    step: int",
              "    return torch.slice(x, 0, 0, 4, step)\n");
  ExpectError(slice,
              "step: expected an int that is known when importing, found _0; "
              "if an input decides it, make that a constant "
              "(--constant=NAME=VALUE) or fix its dims (--shape)",
              rows);
  const auto two = std::make_shared<int64_t>(2);
  rows.input_values["step"] = {
      .dtype = DType::kI64,
      .dims = {},
      .owner = two,
      .bytes = {reinterpret_cast<const uint8_t*>(two.get()), 8},
      .strings = {}};
  ExpectNumbers(RunTorchArchive(slice, {F32({4}, {1, 2, 3, 4})}, rows),
                {F32({2}, {1, 3})});
  // If the user gives a value for an argument, the argument becomes a constant.
  // An argument with a default value can also be an input.
  const auto three = std::make_shared<int64_t>(3);
  options.input_values["times"] = {
      .dtype = DType::kI64,
      .dims = {},
      .owner = three,
      .bytes = {reinterpret_cast<const uint8_t*>(three.get()), 8},
      .strings = {}};
  options.input_shapes["plus"] = {};
  ExpectNumbers(
      RunTorchArchive(archive, {F32({2}, {1, 2}), {DType::kF64, {}, {1}}},
                      options),
      {F32({2}, {4, 7})});
}

TEST(Import, TuplesAndListsAsArguments) {
  const std::string archive =
      Forward("pair: Tuple[Tensor, Tensor],\n    rest: List[Tensor]",
              "    a, b, = pair\n"
              "    return torch.add(torch.add(a, b), torch.cat(rest))\n");
  frontends::ImportOptions options;
  for (const char* name : {"pair_0", "pair_1"})
    options.input_shapes[name] = {2};
  ExpectError(archive,
              "argument 'rest': expected the items of a list by their numbers "
              "('rest_0', 'rest_1' …), each with a value (--input) or a shape "
              "(--shape), found none",
              options);
  options.input_shapes["rest_0"] = options.input_shapes["rest_1"] = {1};
  ExpectNumbers(RunTorchArchive(archive,
                                {F32({2}, {1, 2}), F32({2}, {10, 20}),
                                 F32({1}, {100}), F32({1}, {200})},
                                options),
                {F32({2}, {111, 222})});
}

TEST(Import, DictsAsArguments) {
  const std::string archive =
      Forward("parts: Dict[str, Tensor]",
              "    return torch.sub(parts[\"b\"], parts[\"a\"])\n");
  frontends::ImportOptions options;
  options.input_shapes["parts_a"] = options.input_shapes["parts_b"] = {1};
  ExpectNumbers(
      RunTorchArchive(archive, {F32({1}, {1}), F32({1}, {3})}, options),
      {F32({1}, {2})});
  options.input_shapes.erase("parts_b");
  ExpectError(archive,
              "expected a key of the dict, found 'b'; give --input=parts_b=...",
              options);
}

TEST(Import, ArgumentsThatMayBeLeftOut) {
  const std::string archive =
      Forward("x: Tensor,\n    more: Optional[Tuple[Tensor, Tensor]]",
              "    if torch.__is__(more, None):\n"
              "      y = torch.neg(x)\n"
              "    else:\n"
              "      a, b, = unchecked_cast(Tuple[Tensor, Tensor], more)\n"
              "      y = torch.add(x, torch.mul(a, b))\n"
              "    return y\n");
  frontends::ImportOptions options;
  options.input_shapes["x"] = {1};
  ExpectNumbers(RunTorchArchive(archive, {F32({1}, {2})}, options),
                {F32({1}, {-2})});
  options.input_shapes["more_0"] = options.input_shapes["more_1"] = {1};
  ExpectNumbers(
      RunTorchArchive(archive, {F32({1}, {2}), F32({1}, {3}), F32({1}, {4})},
                      options),
      {F32({1}, {14})});
}

TEST(Import, TypesOfInputsAreThoseThatAreGiven) {
  const std::string archive =
      Forward("x: Tensor", "    return torch.add(torch.mul(x, 3), 1)\n");
  frontends::ImportOptions options;
  options.input_shapes["x"] = {2};
  ExpectNumbers(RunTorchArchive(archive, {F32({2}, {1, 2})}, options),
                {F32({2}, {4, 7})});
  options.input_types["x"] = DType::kI64;
  ExpectNumbers(RunTorchArchive(archive, {I64({2}, {1, 2})}, options),
                {I64({2}, {4, 7})});
}

// Returns the pickle of an object whose class has no code, with these parts as
// its state.
std::string PickledObject(const std::string& folder, const std::string& name,
                          const std::string& parts) {
  return "c__torch__.torch.classes." + folder + "\n" + name + "\n)\x81(" +
         parts + "tb";
}

TEST(Import, WeightsPackedForMobile) {
  ArchiveBuilder archive;
  archive.Code(R"(class Net(Module):
  packed : __torch__.torch.classes.xnnpack.LinearOpContext
  def forward(self: __torch__.Net,
    x: Tensor) -> Tensor:
    return ops.prepacked.linear_clamp_run(x, self.packed)
)");
  archive.Entry("net/data/7", std::string("\0\0\x80\x3f\0\0\0\x40", 8));
  archive.Pickled("packed",
                  PickledObject("xnnpack", "LinearOpContext",
                                torchscript::PickleTensor("7", DType::kF32,
                                                          {1, 2}, {2, 1}, 0) +
                                    "N" + torchscript::PickleFloat(0) + "N"));
  archive.TracedInput(DType::kF32, {2, 2});
  ExpectNumbers(RunTorchArchive(archive.Finish(), {F32({2, 2}, {1, 2, 1, -3})}),
                {F32({2, 1}, {5, 0})});
}

// Returns a pickled tensor of i8, one row of two, whose integers represent
// (integer - 1) * 0.5.
std::string QuantizedWeight() {
  std::string tensor =
      torchscript::PickleTensor("7", DType::kI8, {1, 2}, {2, 1}, 0);
  const auto replace = [&](const std::string& old, const std::string& by) {
    tensor.replace(tensor.find(old), old.size(), by);
  };
  replace("_rebuild_tensor_v2", "_rebuild_qtensor");
  replace("CharStorage", "QInt8Storage");
  replace("\x89", "(ctorch\nper_tensor_affine\n" +
                      torchscript::PickleFloat(0.5) +
                      torchscript::PickleInteger(1) + "t\x89");
  return tensor;
}

TEST(Import, QuantizedLayers) {
  ArchiveBuilder archive;
  archive.Code(R"(class Net(Module):
  packed : __torch__.torch.classes.quantized.LinearPackedParamsBase
  def forward(self: __torch__.Net,
    x: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
    q = torch.quantize_per_tensor(x, 0.5, 10, 13)
    y = ops.quantized.linear(q, self.packed, 0.25, 3)
    z = torch.relu(torch.reshape(q, [4]))
    d = ops.quantized.linear_dynamic(x, self.packed, False)
    return (torch.dequantize(y), torch.int_repr(z), d)
)");
  // The stored weights 3 and -1 stand for (3 - 1) * 0.5 = 1 and (-1 - 1) * 0.5
  // = -1.
  archive.Entry("net/data/7", "\x03\xff");
  archive.Pickled("packed", PickledObject("quantized", "LinearPackedParamsBase",
                                          QuantizedWeight() + "N"));
  archive.TracedInput(DType::kF32, {2, 2});
  ExpectNumbers(
      RunTorchArchive(archive.Finish(), {F32({2, 2}, {1, 0.6, -2, 3})}),
      // The input's element 0.6 becomes 0.5 for y, because q has steps of 0.5.
      // For d (dynamic quantization) it becomes 0.608, because 255 steps cover
      // the inputs' range from -2 to 3.
      {F32({2, 1}, {0.5, -0.75}),
       {DType::kU8, {4}, {12, 11, 10, 16}},
       F32({2, 1}, {0.4, -5})},
      0.03);
}

TEST(Import, StridedAndSharedTensors) {
  ArchiveBuilder archive;
  archive.Code(R"(class Net(Module):
  def forward(self: __torch__.Net,
    x0: Tensor) -> Tensor:
    return torch.add(torch.matmul(x0, self.turned), self.wide)
)");
  // The stored tensor is [[1, 2, 3], [4, 5, 6]], column by column. The second
  // tensor repeats its first row by a stride of 0.
  std::vector<uint8_t> bytes(6 * sizeof(float));
  const float values[] = {1, 4, 2, 5, 3, 6};
  std::memcpy(bytes.data(), values, bytes.size());
  archive.Tensor("stored", DType::kF32, {6}, bytes);
  archive.View("turned", "0", DType::kF32, {2, 3}, {1, 2}, 0);
  archive.View("wide", "0", DType::kF32, {2, 3}, {0, 2}, 0);
  archive.TracedInput(DType::kF32, {2, 2});
  ExpectNumbers(RunTorchArchive(archive.Finish(), {F32({2, 2}, {1, 0, 0, 1})}),
                {F32({2, 3}, {2, 4, 6, 5, 7, 9})});
}

// The archive states no type for the input. PyTorch multiplies tensors of one
// type only, so the input has the type of the weight.
TEST(Import, AFactorHasTheTypeOfTheWeight) {
  ArchiveBuilder archive;
  archive.Code(R"(class Net(Module):
  def forward(self: __torch__.Net,
    x: Tensor) -> Tensor:
    return torch.matmul(x, self.w)
)");
  const Numbers w = {DType::kF16, {2, 1}, {3, 4}};
  const std::string bytes = BytesOf(w);
  archive.Tensor("w", DType::kF16, {2, 1}, {bytes.begin(), bytes.end()});
  frontends::ImportOptions options;
  options.input_shapes["x"] = {1, 2};
  ExpectNumbers(RunTorchArchive(archive.Finish(),
                                {{DType::kF16, {1, 2}, {1, 2}}}, options),
                {{DType::kF16, {1, 1}, {11}}});
}

TEST(Import, OtherMethods) {
  const std::string archive =
      Net("  def forward(self: __torch__.Net, x: Tensor) -> Tensor:\n"
          "    return x\n"
          "  def encode(self: __torch__.Net, x: Tensor) -> Tensor:\n"
          "    return torch.neg(x)\n");
  frontends::ImportOptions options;
  options.input_shapes["x"] = {1};
  options.entry = "encode";
  ExpectNumbers(RunTorchArchive(archive, {F32({1}, {2})}, options),
                {F32({1}, {-2})});
  options.entry = "decode";
  ExpectError(archive,
              "expected a method 'decode' of the module, found 'encode', "
              "'forward'",
              options);
}

TEST(Import, AllUnsupportedOperatorsAreListed) {
  ArchiveBuilder archive;
  archive.Code(R"(class Net(Module):
  def forward(self: __torch__.Net,
    x: Tensor) -> Tensor:
    y = torch.randn(x)
    z = torch.no_such_thing(y)
    return torch.relu((self).more(z, ))
  def more(self: __torch__.Net,
    x: Tensor) -> Tensor:
    return ops.mine.special(x)
)");
  archive.TracedInput(DType::kF32, {8});
  const std::string error = ErrorOf(archive.Finish());
  EXPECT_NE(error.find("unsupported operators: aten::randn (node 'line 4 "
                       "(randn)'; random numbers: make them an input of the "
                       "model), aten::no_such_thing, mine::special"),
            std::string::npos)
      << error;
}

TEST(Import, WhatTheModelRaises) {
  ArchiveBuilder archive;
  archive.Code(R"(class Net(Module):
  def forward(self: __torch__.Net,
    x: Tensor) -> Tensor:
    if torch.ne(torch.dim(x), 3):
      ops.prim.RaiseException(torch.format("expected 3 dims, got {}", torch.dim(x)))
    else:
      pass
    return x
)");
  archive.TracedInput(DType::kF32, {8});
  ExpectError(archive.Finish(),
              "the model raises an exception: expected 3 dims, got 1");
}

TEST(Import, WhatIsOneThingOrAnother) {
  // The two branches give a variable values that cannot be merged (of different
  // types). That is an error only if the variable is used afterwards.
  const std::string start =
      "if bool(torch.gt(torch.sum(x0), 0)):\n"
      "  y = torch.sum(x0)\n"
      "else:\n"
      "  y = x0\n";
  ExpectNumbers(RunTorch(start + "return x0", {F32({1}, {1})}),
                {F32({1}, {1})});
  const auto failed = RunTorch(start + "return torch.neg(y)", {F32({1}, {1})});
  ASSERT_FALSE(failed.ok());
  EXPECT_NE(failed.status().message().find(
                "expected one kind of value, found 'y', which is a tensor "
                "f32[] or a tensor f32[1], as the run decides"),
            std::string::npos)
      << failed.status().message();
}

TEST(Import, ExpandedTensorsAreNotWrittenTo) {
  const auto failed =
      RunTorch("_0 = torch.add_(torch.expand(x0, [3, 2]), 1)\nreturn x0",
               {F32({2}, {1, 2})});
  ASSERT_FALSE(failed.ok());
  EXPECT_NE(failed.status().message().find("found one that repeats"),
            std::string::npos)
      << failed.status().message();
}

TEST(Import, OtherArchives) {
  archive::ZipBuilder tensors;
  tensors.Add("net/data.pkl", "\x80\x02}.");
  ExpectError(tensors.Finish(), "expected an archive with code");
  archive::ZipBuilder exported;
  exported.Add("net/models/model.json", "{}");
  ExpectError(exported.Finish(), "found one of torch.export");
  archive::ZipBuilder other;
  other.Add("config.json", "{}");
  ExpectError(other.Finish(), "found neither");
  ExpectError("not a zip", "expected a ZIP archive");
  EXPECT_FALSE(torchscript::IsArchive(other.Finish()));
  EXPECT_TRUE(torchscript::IsArchive(SampleModel("layers")));
}

TEST(Import, WorkIsBounded) {
  const std::vector<Numbers> x = {F32({1}, {1})};
  const auto fails_with = [&](const std::string& body,
                              const std::string& part) {
    const auto failed = RunTorch(body, x);
    ASSERT_FALSE(failed.ok());
    EXPECT_NE(failed.status().message().find(part), std::string::npos)
        << failed.status().message();
  };
  fails_with("while True:\n  pass\nreturn x0", "expected at most 2000000");
  fails_with("for i in range(1000000000):\n  y = i\nreturn x0",
             "expected at most 2000000");
  fails_with("return (self).forward(x0, )", "calls within calls");
  fails_with("return " + std::string(5000, '(') + "x0" + std::string(5000, ')'),
             "levels of nesting");
  fails_with("return x0" + std::string(5000, '.') + "y", "expected a name");
}

TEST(Import, LooksForItemsInListsOnly) {
  ExpectError(TorchArchive("return torch.__contains__(3, x0)", {kInput}),
              "expected something to look in, found the int 3");
}

// The value has 8 levels of 8 items: few lists, but 16 million items if they
// are expanded to a tree.
TEST(Import, ListsThatAreHeldManyTimes) {
  const std::string nested = "[l, l, l, l, l, l, l, l]\n";
  const std::string lists =
      "l = annotate(List[int], [])\n"
      "for i in range(8):\n"
      "  l = " +
      nested;
  ExpectError(TorchArchive(lists + "return l", {kInput}),
              "results: expected at most 1000000 items");
  const std::string code = "code: expected at most 1000000 tensors and items";
  const std::string other =
      "k = l\n"
      "l = annotate(List[int], [])\n"
      "for i in range(8):\n"
      "  l = " +
      nested;
  ExpectError(TorchArchive(lists + other +
                               "if torch.eq(k, l):\n"
                               "  pass\n"
                               "else:\n"
                               "  pass\n"
                               "return x0",
                           {kInput}),
              code);
  ExpectError(TorchArchive("l = annotate(List[int], [])\n"
                           "for i in range(7):\n"
                           "  l = " +
                               nested + "return torch.tensor(l)",
                           {kInput}),
              code);
}

// A number of traced code is a constant without dims, which PyTorch takes as a
// number in sums, products and quotients: the results are f32.
TEST(Import, NumbersOfTracedCode) {
  ArchiveBuilder archive;
  archive.Code(R"(class Net(Module):
  def forward(self: __torch__.Net,
    x0: Tensor) -> Tensor:
    a = torch.mul(x0, CONSTANTS.c0)
    b = torch.add(torch.max(x0), CONSTANTS.c0)
    c = torch.div(x0, CONSTANTS.c0)
    d = torch.add(torch.to(torch.max(x0), 0), CONSTANTS.c1)
    return (a, b, c, d)
)");
  const double number = 1.5;
  const int64_t two = 2;
  const auto* bytes = reinterpret_cast<const uint8_t*>(&number);
  archive.Constant(DType::kF64, {}, {bytes, bytes + sizeof(number)});
  bytes = reinterpret_cast<const uint8_t*>(&two);
  archive.Constant(DType::kI64, {}, {bytes, bytes + sizeof(two)});
  archive.TracedInput(DType::kI64, {2});
  ExpectNumbers(RunTorchArchive(archive.Finish(), {I64({2}, {3, 6})}),
                {F32({2}, {4.5, 9}),
                 F32({}, {7.5}),
                 F32({2}, {2, 4}),
                 {DType::kU8, {}, {8}}});
}

// Imports of truncated files and of changed bytes must do no harm.
TEST(Import, DamagedFiles) {
  for (const std::string_view name : torchscript::SampleModelNames()) {
    const std::string archive = SampleModel(name);
    for (size_t size = 0; size < archive.size(); size += 7)
      EXPECT_FALSE(Import(archive.substr(0, size)).ok()) << name << " " << size;
    for (size_t at = 0; at < archive.size(); at += 3) {
      std::string changed = archive;
      changed[at] = static_cast<char>(changed[at] ^ (1 << at % 8));
      const StatusOr<graph::Graph> graph = Import(changed);
      if (graph.ok()) continue;
      EXPECT_EQ(graph.status().message().find('\n'), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace ember::tests
