// Tests operations of ML programs against the formulas of MIL's reference.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "frontends/coreml/testing/sample_models.h"
#include "tests/coreml/one_model.h"
#include "tests/formats/numbers.h"

namespace ember::tests {
namespace {

using coreml::ConstBool;
using coreml::ConstFloats;
using coreml::ConstInts;
using coreml::ConstText;
using coreml::Message;
using coreml::OperationOf;

// Makes a value of a program, a tensor with one dim of extent `size`, or with
// no dim if `size` is -1.
Message ValueOf(int64_t type, int64_t size, const Message& contents) {
  Message tensor = Message().Integer(1, type).Integer(2, size < 0 ? 0 : 1);
  if (size >= 0) tensor.Put(3, Message().Put(1, Message().Integer(1, size)));
  return Message()
      .Put(2, Message().Put(1, tensor))
      .Put(3, Message().Put(1, contents));
}
Message Bytes(const std::string& bytes) {
  return ValueOf(31, static_cast<int64_t>(bytes.size()),
                 Message().Put(7, Message().Text(1, bytes)));
}
Message Floats(const std::vector<float>& values) {
  return ValueOf(11, static_cast<int64_t>(values.size()),
                 Message().Put(1, Message().Floats(1, values)));
}
Message Scalar(float value) {
  return ValueOf(11, -1, Message().Put(1, Message().Floats(1, {value})));
}
Message Ints(const std::vector<int64_t>& values) {
  return ValueOf(23, static_cast<int64_t>(values.size()),
                 Message().Put(2, Message().Integers(1, values)));
}
Message Int(int64_t value) {
  return ValueOf(23, -1, Message().Put(2, Message().Integers(1, {value})));
}

Message ConstInt(const std::string& name, int64_t value) {
  return Message()
      .Text(1, "const")
      .Put(3, Message().Text(1, name))
      .Put(5, Message().Text(1, "val").Put(2, Int(value)));
}

// Computes x plus a compressed constant whose parts are attributes.
StatusOr<std::vector<Numbers>> RunConstant(
    const std::string& type,
    const std::vector<std::pair<std::string, Message>>& parts,
    const Numbers& x) {
  Message operation = OperationOf(type, {}, "c");
  for (const auto& [name, value] : parts)
    operation.Put(5, Message().Text(1, name).Put(2, value));
  return RunOperation("add", x, {operation}, {{"y", {"c"}}});
}

TEST(Compressed, Constants) {
  const Numbers x = F32({2, 3}, {0, 0, 0, 0, 0, 0});
  // The constant's indices have 2 bits each, the first one in the lowest bits:
  // 0 1 2 3 in the first byte, and 3 0 in the second.
  const std::vector<std::pair<std::string, Message>> table = {
      {"indices", Bytes("\xe4\x03")},
      {"lut", Floats({5, 6, 7, -8})},
      {"shape", Ints({2, 3})}};
  ExpectNumbers(RunConstant("constexpr_lut_to_dense", table, x),
                {F32({2, 3}, {5, 6, 7, -8, -8, 5})});
  // The bits of the mask that are set are 0, 2 and 5: these elements are not
  // zero.
  ExpectNumbers(RunConstant("constexpr_sparse_to_dense",
                            {{"mask", Bytes("\x25")},
                             {"nonzero_data", Floats({1.5, -2, 3})},
                             {"shape", Ints({2, 3})}},
                            x),
                {F32({2, 3}, {1.5, 0, -2, 0, 0, 3})});
  ExpectNumbers(RunConstant("constexpr_affine_dequantize",
                            {{"quantized_data", Bytes("\x01\x80\xff")},
                             {"zero_point", Bytes("\x01\x80\xf0")},
                             {"scale", Floats({1, 2, 0.5})},
                             {"axis", Int(0)}},
                            F32({3}, {0, 0, 0})),
                {F32({3}, {0, 0, 7.5})});
  ExpectNumbers(RunConstant("constexpr_affine_dequantize",
                            {{"quantized_data", Bytes("\x01\x80\xff")},
                             {"zero_point", Scalar(1)},
                             {"scale", Scalar(0.25)},
                             {"axis", Int(0)}},
                            F32({3}, {0, 0, 0})),
                {F32({3}, {0, 31.75, 63.5})});
}

TEST(Compressed, DamagedConstants) {
  const auto error =
      [](const std::string& type,
         const std::vector<std::pair<std::string, Message>>& parts) {
        const auto results = RunConstant(type, parts, F32({1}, {0}));
        return results.ok() ? "" : std::string(results.status().message());
      };
  EXPECT_NE(error("constexpr_lut_to_dense", {{"indices", Bytes("\xe4")},
                                             {"lut", Floats({5, 6, 7, -8})},
                                             {"shape", Ints({2, 3})}})
                .find("shape: expected one of 2 bits"),
            std::string::npos);
  EXPECT_NE(error("constexpr_lut_to_dense", {{"indices", Bytes("\xe4")},
                                             {"lut", Floats({5, 6, 7})},
                                             {"shape", Ints({4})}})
                .find("lut: expected 2, 4, 16, 64 or 256 numbers, found 3"),
            std::string::npos);
  EXPECT_NE(error("constexpr_sparse_to_dense", {{"mask", Bytes("\x25")},
                                                {"nonzero_data", Floats({1})},
                                                {"shape", Ints({2, 3})}})
                .find("nonzero_data: expected 3 numbers, found 1"),
            std::string::npos);
  EXPECT_NE(error("constexpr_sparse_to_dense",
                  {{"mask", Bytes("\x25")},
                   {"nonzero_data", Floats({1})},
                   {"shape", Ints({int64_t{1} << 40, int64_t{1} << 40})}})
                .find("shape: expected one of 1 bits"),
            std::string::npos);
}

TEST(Compressed, QuantizedThereAndBack) {
  const Numbers x = F32({2, 2}, {1, -3, 2.6, 500});
  const std::vector<Message> constants = {ConstFloats("s", {2}, {0.5, 2}),
                                          ConstText("t", "int8"),
                                          ConstInt("axis", 1),
                                          OperationOf("quantize",
                                                      {{"input", {"x"}},
                                                       {"scale", {"s"}},
                                                       {"axis", {"axis"}},
                                                       {"output_dtype", {"t"}}},
                                                      "q")};
  // Quantizing clamps and rounds: in the second column, whose scale is 2, -3 /
  // 2 = -1.5 rounds to -2, and a large number becomes 127, the largest i8.
  ExpectNumbers(
      RunOperation("dequantize", x, constants,
                   {{"input", {"q"}}, {"scale", {"s"}}, {"axis", {"axis"}}}),
      {F32({2, 2}, {1, -4, 2.5, 254})});
}

// Returns the operations that make a constant of several dims: a constant of
// one dim and a reshape.
std::vector<Message> Shaped(const std::string& name,
                            const std::vector<int64_t>& values,
                            const std::vector<int64_t>& dims) {
  return {ConstInts(name + "_flat", values), ConstInts(name + "_dims", dims),
          OperationOf("reshape",
                      {{"x", {name + "_flat"}}, {"shape", {name + "_dims"}}},
                      name)};
}

const Numbers kX = F32({2, 3}, {1, 2, 3, 4, 5, 6});

// The f32 nearest to 0.7 is a little less than 0.7, so -7 is not a multiple of
// it, and the exact remainder is not 0.
TEST(Elementwise, RemaindersAreExact) {
  const double part = 0.7f;
  ExpectNumbers(RunOperation("mod", F32({4}, {-7, 7, 7, -7.5}),
                             {ConstFloats("d", {4}, {0.7f, 0.7f, -2, 2})},
                             {{"y", {"d"}}}),
                {F32({4}, {11 * part - 7, 7 - 10 * part, -1, 0.5})});
}

TEST(Indexing, GathersAndScatters) {
  ExpectNumbers(
      RunOperation("gather_nd", kX, Shaped("i", {1, 0, -1, -1}, {2, 2}),
                   {{"indices", {"i"}}}),
      {F32({2}, {4, 6})});
  std::vector<Message> constants = Shaped("i", {1, 0, 0, 2}, {2, 2});
  constants.push_back(ConstFloats("u", {2}, {10, 20}));
  constants.push_back(ConstText("m", "update"));
  ExpectNumbers(RunOperation("scatter_nd", kX, constants,
                             {{"data", {"x"}},
                              {"indices", {"i"}},
                              {"updates", {"u"}},
                              {"mode", {"m"}}}),
                {F32({2, 3}, {1, 2, 20, 10, 5, 6})});
  struct Case {
    std::string mode;
    std::vector<double> expected;
  };
  // Each case scatters updates to the columns 2 and 0, combined with the old
  // elements as its mode says; "" means the default, "add".
  const Case cases[] = {
      {"", {3, 2, 4, 8, 5, 8}},      {"sub", {-1, 2, 2, 0, 5, 4}},
      {"mul", {2, 2, 3, 16, 5, 12}}, {"div", {0.5, 2, 3, 1, 5, 3}},
      {"max", {2, 2, 3, 4, 5, 6}},   {"min", {1, 2, 1, 4, 5, 2}},
      {"update", {2, 2, 1, 4, 5, 2}}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.mode);
    std::vector<Message> parts = {ConstInts("i", {2, 0}),
                                  ConstFloats("u", {2, 2}, {1, 2, 2, 4}),
                                  ConstInt("a", 1), ConstText("m", c.mode)};
    OperationInputs inputs = {{"data", {"x"}},
                              {"indices", {"i"}},
                              {"updates", {"u"}},
                              {"axis", {"a"}}};
    if (!c.mode.empty()) inputs.push_back({"mode", {"m"}});
    ExpectNumbers(RunOperation("scatter", kX, parts, inputs),
                  {F32({2, 3}, c.expected)});
    for (const Message& part : Shaped("i2", {2, 0, 2, 0}, {2, 2}))
      parts.push_back(part);
    inputs[1].second = {"i2"};
    ExpectNumbers(RunOperation("scatter_along_axis", kX, parts, inputs),
                  {F32({2, 3}, c.expected)});
  }
}

TEST(Indexing, NumbersOfPlaces) {
  ExpectNumbers(
      RunOperation("argsort", F32({2, 3}, {2, 1, 3, -1, 7, 0}), {}, {}),
      {I32({2, 3}, {2, 0, 1, 1, 2, 0})});
  ExpectNumbers(RunOperation("argsort", F32({2, 3}, {2, 1, 3, -1, 7, 0}),
                             {ConstBool("up", true)}, {{"ascending", {"up"}}}),
                {I32({2, 3}, {1, 0, 2, 0, 2, 1})});
  const Numbers zero = F32({3}, {0, 0, 0});
  ExpectNumbers(
      RunOperation(
          "add", zero,
          {ConstFloats("s", {}, {5}), ConstFloats("e", {}, {1}),
           ConstFloats("d", {}, {-1.5}),
           OperationOf("range_1d",
                       {{"start", {"s"}}, {"end", {"e"}}, {"step", {"d"}}},
                       "r")},
          {{"y", {"r"}}}),
      {F32({3}, {5, 3.5, 2})});
  const std::vector<Message> hot = {ConstInts("i", {2, 0}), ConstInt("n", 3),
                                    ConstFloats("on", {}, {7}),
                                    ConstFloats("off", {}, {-1}),
                                    OperationOf("one_hot",
                                                {{"indices", {"i"}},
                                                 {"one_hot_vector_size", {"n"}},
                                                 {"on_value", {"on"}},
                                                 {"off_value", {"off"}}},
                                                "h")};
  ExpectNumbers(
      RunOperation("add", F32({2, 3}, {0, 0, 0, 0, 0, 0}), hot, {{"y", {"h"}}}),
      {F32({2, 3}, {-1, -1, 7, 7, -1, -1})});
  const std::vector<Message> band = {ConstInt("l", 0), ConstInt("u", 1)};
  ExpectNumbers(
      RunOperation("band_part", kX, band, {{"lower", {"l"}}, {"upper", {"u"}}}),
      {F32({2, 3}, {1, 2, 0, 0, 5, 6})});
  ExpectNumbers(RunOperation("band_part", kX, band, {{"lower", {"l"}}}),
                {F32({2, 3}, {1, 2, 3, 0, 5, 6})});
  ExpectNumbers(RunOperation("fill_like", kX, {ConstFloats("v", {}, {4})},
                             {{"ref_tensor", {"x"}}, {"value", {"v"}}}),
                {F32({2, 3}, {4, 4, 4, 4, 4, 4})});
  ExpectNumbers(RunOperation("einsum", kX, {ConstText("e", "ij,kj->ik")},
                             {{"values", {"x", "x"}}, {"equation", {"e"}}}),
                {F32({2, 2}, {14, 32, 32, 77})});
}

TEST(Layers, ActivationsAndCrops) {
  const Numbers x = F32({1, 2, 1, 2}, {-1, 3, 0.5, -2});
  ExpectNumbers(
      RunOperation("clamped_relu", x,
                   {ConstFloats("a", {}, {0.5}), ConstFloats("b", {}, {2})},
                   {{"alpha", {"a"}}, {"beta", {"b"}}}),
      {F32(x.dims, {-0.5, 2, 0.5, -1})});
  const auto softplus = [](double v) { return std::log1p(std::exp(v)); };
  ExpectNumbers(RunOperation("softplus_parametric", x,
                             {ConstFloats("a", {2}, {2, 3}),
                              ConstFloats("b", {2}, {1, -1})},
                             {{"alpha", {"a"}}, {"beta", {"b"}}}),
                {F32(x.dims, {2 * softplus(-1), 2 * softplus(3),
                              3 * softplus(-0.5), 3 * softplus(2)})});
  ExpectNumbers(
      RunOperation("crop",
                   F32({1, 3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}),
                   {ConstInts("h", {1, 0}), ConstInts("w", {1, 2})},
                   {{"crop_height", {"h"}}, {"crop_width", {"w"}}}),
      {F32({1, 2, 1}, {5, 9})});
}

TEST(Layers, Attention) {
  // The attention has one head and two queries. The mask hides the second key
  // from the second query.
  const Numbers q = F32({1, 2, 4}, {1, 0, 2, 0, 0, 1, 0, -1});
  const std::vector<Message> constants = {
      ConstFloats("k", {1, 2, 4}, {1, 2, 0, 1, 0, 1, 1, 0}),
      ConstFloats("v", {1, 2, 1}, {10, 20}),
      ConstFloats("m", {2, 2}, {0, 0, 0, -1e9f})};
  // The products of the first query with the two keys are 1 and 2; they are
  // divided by 2, the root of the head's size.
  const double second = 1 / (1 + std::exp(-0.5));
  const OperationInputs inputs = {
      {"query", {"x"}}, {"key", {"k"}}, {"value", {"v"}}, {"attn_mask", {"m"}}};
  ExpectNumbers(
      RunOperation("scaled_dot_product_attention", q, constants, inputs),
      {F32({1, 2, 1}, {10 + 10 * second, 10})});
}

}  // namespace
}  // namespace ember::tests
