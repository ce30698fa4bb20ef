// Tests MIL's compressed constants since iOS 18 against the formulas of its
// reference.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "frontends/coreml/testing/sample_models.h"
#include "tests/coreml/one_model.h"
#include "tests/formats/numbers.h"

namespace ember::tests {
namespace {

using coreml::Message;
using coreml::OperationOf;

// The numbers that MIL's format gives to element types.
constexpr int64_t kF32 = 11, kI32 = 23, kInt4 = 25, kUint4 = 35, kUint2 = 36,
                  kUint1 = 37, kUint6 = 38, kUint3 = 39;

Message ValueOf(int64_t type, const std::vector<int64_t>& dims,
                const Message& contents) {
  Message tensor =
      Message().Integer(1, type).Integer(2, static_cast<int64_t>(dims.size()));
  for (const int64_t dim : dims)
    tensor.Put(3, Message().Put(1, Message().Integer(1, dim)));
  return Message()
      .Put(2, Message().Put(1, tensor))
      .Put(3, Message().Put(1, contents));
}
// Packs numbers of `bits` bits each, the first in the lowest bits.
Message Packed(int64_t type, int bits, const std::vector<int64_t>& dims,
               const std::vector<int>& numbers) {
  std::string bytes((numbers.size() * static_cast<size_t>(bits) + 7) / 8, 0);
  size_t place = 0;
  for (const int number : numbers) {
    for (int i = 0; i < bits; ++i, ++place)
      if ((number >> i & 1) != 0)
        bytes[place / 8] |= static_cast<char>(1 << place % 8);
  }
  return ValueOf(type, dims, Message().Put(7, Message().Text(1, bytes)));
}
Message Floats(const std::vector<int64_t>& dims,
               const std::vector<float>& values) {
  return ValueOf(kF32, dims, Message().Put(1, Message().Floats(1, values)));
}
Message Int(int64_t value) {
  return ValueOf(kI32, {}, Message().Put(2, Message().Integers(1, {value})));
}

using Parts = std::vector<std::pair<std::string, Message>>;

// Makes an operation in the form since iOS 18, whose constants are inputs
// (named values) and not attributes.
Message Constexpr(const std::string& type, const Parts& parts,
                  const std::vector<std::string>& outputs) {
  Message operation = OperationOf(type, {}, outputs[0]);
  for (size_t i = 1; i < outputs.size(); ++i)
    operation.Put(3, Message().Text(1, outputs[i]));
  for (const auto& [name, value] : parts) {
    const Message argument = Message().Put(1, Message().Put(2, value));
    operation.Put(2, Message().Text(1, name).Put(2, argument));
  }
  return operation;
}
// Runs a program that adds the compressed constant to 0.
StatusOr<std::vector<Numbers>> RunConstant(const std::string& type,
                                           const Parts& parts,
                                           std::vector<int64_t> dims) {
  size_t count = 1;
  for (const int64_t dim : dims) count *= static_cast<size_t>(dim);
  return RunOperation("add", F32(std::move(dims), std::vector<double>(count)),
                      {Constexpr(type, parts, {"c"})}, {{"y", {"c"}}});
}

TEST(Blockwise, ShiftScale) {
  // The constant has signed numbers of 4 bits. Each row has two blocks of
  // columns, each with its own scale.
  const std::vector<int> data = {-8, 7, 1, 2, 3, -4, 0, -1};
  const Parts parts = {{"data", Packed(kInt4, 4, {2, 4}, data)},
                       {"scale", Floats({2, 2}, {1, 10, 0.5, 2})}};
  ExpectNumbers(RunConstant("constexpr_blockwise_shift_scale", parts, {2, 4}),
                {F32({2, 4}, {-8, 7, 10, 20, 1.5, -2, 0, -2})});
  Parts shifted = parts;
  shifted.push_back({"offset", Packed(kInt4, 4, {2, 2}, {1, -1, 2, 0})});
  ExpectNumbers(RunConstant("constexpr_blockwise_shift_scale", shifted, {2, 4}),
                {F32({2, 4}, {-9, 6, 20, 30, 0.5, -3, 0, -2})});
  // Unsigned numbers of each width are unpacked: 1, 2, 3, 4 and 6 bits.
  const std::pair<int64_t, int> widths[] = {
      {kUint1, 1}, {kUint2, 2}, {kUint3, 3}, {kUint4, 4}, {kUint6, 6}};
  for (const auto& [type, bits] : widths) {
    SCOPED_TRACE(bits);
    const int most = (1 << bits) - 1;
    ExpectNumbers(RunConstant("constexpr_blockwise_shift_scale",
                              {{"data", Packed(type, bits, {3}, {most, 0, 1})},
                               {"scale", Floats({1}, {2})}},
                              {3}),
                  {F32({3}, {2.0 * most, 0, 2})});
  }
  const auto wrong =
      RunConstant("constexpr_blockwise_shift_scale",
                  {{"data", Packed(kInt4, 4, {2, 4}, data)},
                   {"scale", Floats({2, 3}, {1, 1, 1, 1, 1, 1})}},
                  {2, 4});
  EXPECT_EQ(wrong.status().message(),
            "model 'model': node 'c (constexpr_blockwise_shift_scale)': scale: "
            "expected dims that divide those of the numbers, [2, 4], found "
            "[2, 3]");
}

TEST(Blockwise, LookUp) {
  // Tests constants that are indices into a lookup table. Here each row of
  // indices has a table of its own, with four numbers.
  ExpectNumbers(
      RunConstant("constexpr_lut_to_dense",
                  {{"indices", Packed(kUint2, 2, {2, 3}, {0, 3, 1, 2, 2, 0})},
                   {"lut", Floats({2, 1, 4, 1}, {1, 2, 3, 4, 10, 20, 30, 40})}},
                  {2, 3}),
      {F32({2, 3}, {1, 4, 2, 30, 30, 10})});
  // The entries of the lookup table are vectors of two numbers along the first
  // axis: index row i gives the rows 2 i and 2 i + 1.
  ExpectNumbers(
      RunConstant("constexpr_lut_to_dense",
                  {{"indices", Packed(kUint1, 1, {2, 3}, {0, 1, 1, 1, 0, 0})},
                   {"lut", Floats({1, 1, 2, 2}, {1, 2, 3, 4})},
                   {"vector_axis", Int(0)}},
                  {4, 3}),
      {F32({4, 3}, {1, 3, 3, 2, 4, 4, 3, 1, 1, 4, 2, 2})});
}

TEST(Blockwise, Sparse) {
  const Message mask = Packed(kUint1, 1, {2, 3}, {1, 0, 1, 0, 0, 1});
  ExpectNumbers(
      RunConstant("constexpr_sparse_to_dense",
                  {{"nonzero_data", Floats({3}, {1.5, -2, 3})}, {"mask", mask}},
                  {2, 3}),
      {F32({2, 3}, {1.5, 0, -2, 0, 0, 3})});
  const auto run = [&](const Message& first) {
    const Message dense =
        OperationOf("constexpr_sparse_to_dense",
                    {{"mask", {"m"}}, {"nonzero_data", {"d"}}}, "c");
    return RunOperation("add", F32({2, 3}, std::vector<double>(6)),
                        {first, dense}, {{"y", {"c"}}});
  };
  // In the first sparse constant each row has a scale and an offset of its own.
  ExpectNumbers(
      run(Constexpr("constexpr_sparse_blockwise_shift_scale",
                    {{"data_mask", mask},
                     {"nonzero_data", Packed(kInt4, 4, {3}, {-3, 5, 7})},
                     {"scale", Floats({2, 1}, {2, 10})},
                     {"offset", Packed(kInt4, 4, {2, 1}, {1, -1})}},
                    {"m", "d"})),
      {F32({2, 3}, {-8, 0, 8, 0, 0, 80})});
  // In the second sparse constant each row has a lookup table of its own.
  ExpectNumbers(
      run(Constexpr(
          "constexpr_lut_to_sparse",
          {{"indices_mask", mask},
           {"indices_nonzero_data", Packed(kUint2, 2, {3}, {1, 0, 3})},
           {"lut", Floats({2, 1, 4, 1}, {1, 2, 3, 4, 5, 6, 7, 8})}},
          {"m", "d"})),
      {F32({2, 3}, {2, 0, 1, 0, 0, 8})});
}

}  // namespace
}  // namespace ember::tests
