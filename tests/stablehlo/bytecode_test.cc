// Tests portable artifacts: the dialect vhlo in its own encodings.
#include "frontends/stablehlo/bytecode.h"

#include <gtest/gtest.h>

#include <string>

#include "frontends/stablehlo/testing/bytecode_builder.h"
#include "tests/stablehlo/run_program.h"

namespace ember::tests {
namespace {

using stablehlo::BytecodeBuilder;
using stablehlo::Varint;

// Makes an artifact: x [2, 3] by y [3, 2] as dot_general_v2, a loop that adds
// the product to itself until a counter is 3, and bools of a comparison at the
// end.
std::string Artifact() {
  BytecodeBuilder b;
  const int f32 = b.Type(Varint(4)), i64 = b.Type(Varint(14)),
            i1 = b.Type(Varint(0));
  const int x = b.Tensor({2, 3}, f32), y = b.Tensor({3, 2}, f32),
            product = b.Tensor({2, 2}, f32), counter = b.Tensor({}, i64),
            scalar_bool = b.Tensor({}, i1), bools = b.Tensor({2, 2}, i1);
  const auto number = [&](int64_t value) {
    std::string bytes;
    for (int i = 0; i < 8; ++i)
      bytes += static_cast<char>(value >> (8 * i) & 0xff);
    return b.Attribute(Varint(15) + Varint(counter) + Varint(8) + bytes);
  };
  const auto constant = [&](int64_t value) {
    return b.Operation("constant_v1", {{"value", number(value)}}, {counter},
                       {});
  };
  // The values of main have these numbers: 0 x, 1 y, 2 product, 3 zero, 4 one,
  // 5 three, 6 and 7 the loop's results, 8 the comparison.
  const std::string dot = b.Operation(
      "dot_general_v2",
      {{"lhs_batching_dimensions", b.Integers({})},
       {"rhs_batching_dimensions", b.Integers({})},
       {"lhs_contracting_dimensions", b.Integers({1})},
       {"rhs_contracting_dimensions", b.Integers({0})},
       {"precision_config", b.List({b.Enum(11, 0), b.Enum(11, 2)})}},
      {product}, {0, 1});
  // In the loop's condition and body, values 9 and 10 are the arguments:
  // counter and product.
  const std::string condition = BytecodeBuilder::Region(
      {counter, product}, 3,
      {b.Operation("compare_v1",
                   {{"comparison_direction", b.Enum(3, 5)},
                    {"compare_type", b.Enum(4, 3)}},
                   {scalar_bool}, {9, 5}),
       b.Operation("return_v1", {}, {}, {11})});
  const std::string body =
      BytecodeBuilder::Region({counter, product}, 4,
                              {b.Operation("add_v1", {}, {counter}, {9, 4}),
                               b.Operation("add_v1", {}, {product}, {10, 10}),
                               b.Operation("return_v1", {}, {}, {11, 12})});
  const std::string loop = b.Operation("while_v1", {}, {counter, product},
                                       {3, 2}, {condition, body});
  const std::string compare = b.Operation(
      "compare_v1",
      {{"comparison_direction", b.Enum(3, 3)}, {"compare_type", b.Enum(4, 1)}},
      {bools}, {7, 2});
  const std::string end = b.Operation("return_v1", {}, {}, {7, 8});
  const std::string region = BytecodeBuilder::Region(
      {x, y}, 9,
      {dot, constant(0), constant(1), constant(3), loop, compare, end});
  return b.Finish(b.Function({x, y}, {product, bools}), region);
}

TEST(Bytecode, PortableArtifact) {
  const Numbers x = F32({2, 3}, {1, 2, 3, 4, 5, 6});
  const Numbers y = F32({3, 2}, {1, -1, 0, 1, 2, -2});
  // The loop doubles the product x y three times, so the first result is eight
  // times the product.
  ExpectResults(
      RunProgram(Artifact(), {x, y}),
      {F32({2, 2}, {56, -40, 128, -88}), Bools({2, 2}, {1, 0, 1, 0})});
}

TEST(Bytecode, NamesAreThoseOfStableHlo) {
  const auto module = stablehlo::ReadBytecode(Artifact());
  ASSERT_TRUE(module.ok()) << module.status().ToString();
  const auto& operations = module->functions[0].body.operations;
  EXPECT_EQ(module->functions[0].name, "main");
  EXPECT_EQ(operations[0].name, "stablehlo.dot_general");
  EXPECT_EQ(operations[4].regions[1].operations[0].name, "stablehlo.add");
  EXPECT_EQ(operations.back().name, "func.return");
  EXPECT_EQ(module->producer, "ember");
}

// The file nests attributes: deeply, and so that each attribute contains the
// previous one several times. Attributes are read in the order in which they
// refer to each other.
TEST(Bytecode, Nesting) {
  for (const int times : {1, 10}) {
    BytecodeBuilder b;
    int last = b.Text("x");
    BytecodeBuilder::Named attributes;
    for (int i = 0; i < 1000; ++i) {
      last = b.List(std::vector<int>(static_cast<size_t>(times), last));
      attributes.emplace_back("a" + std::to_string(i), last);
    }
    const std::string end = b.Operation("return_v1", attributes, {}, {});
    const auto module = stablehlo::ReadBytecode(
        b.Finish(b.Function({}, {}), BytecodeBuilder::Region({}, 0, {end})));
    ASSERT_FALSE(module.ok());
    EXPECT_NE(module.status().message().find("attribute"),
              std::string_view::npos)
        << module.status().ToString();
  }
}

// The file contains a long text once, but the module gets a copy of it for each
// reference. Many references to a long text must exceed a limit.
TEST(Bytecode, LongTextsNamedOften) {
  const auto read = [](size_t length, size_t times) {
    BytecodeBuilder b;
    const int list =
        b.List(std::vector<int>(times, b.Text(std::string(length, 'e'))));
    const std::string end = b.Operation("return_v1", {{"a", list}}, {}, {});
    return stablehlo::ReadBytecode(
               b.Finish(b.Function({}, {}),
                        BytecodeBuilder::Region({}, 0, {end})))
        .status();
  };
  EXPECT_TRUE(read(1 << 18, 3).ok());
  EXPECT_TRUE(read(10, 20'000).ok());
  EXPECT_NE(read(1 << 18, 20'000).message().find("attribute"),
            std::string_view::npos);
}

// A region says how many values it has, and the reader allocates memory for
// that number, so a damaged number must be refused.
TEST(Bytecode, RegionsThatSayTheyHaveManyValues) {
  const auto read = [](int values) {
    BytecodeBuilder b;
    std::vector<std::string> regions(10'000,
                                     BytecodeBuilder::Region({}, values, {}));
    // The empty regions only make the file longer: a region that says it has
    // more values than there are bytes left in the file is refused by another
    // check.
    regions.resize(15'000, BytecodeBuilder::Region({}, 0, {}));
    const std::string end = b.Operation("return_v1", {}, {}, {}, regions);
    return stablehlo::ReadBytecode(
               b.Finish(b.Function({}, {}),
                        BytecodeBuilder::Region({}, 0, {end})))
        .status();
  };
  EXPECT_TRUE(read(10).ok()) << read(10).ToString();
  EXPECT_EQ(read(10'000).message(), "bytecode: damaged number of values");
}

TEST(Bytecode, Errors) {
  const auto error = [](const std::string& bytes) {
    const auto module = stablehlo::ReadBytecode(bytes);
    return module.ok() ? "read" : std::string(module.status().message());
  };
  EXPECT_EQ(error("ML\xefR"), "bytecode: damaged header");
  EXPECT_EQ(error("ML\xefR" + Varint(99) + std::string("new") + '\0'),
            "bytecode: expected version 0 to 6 of the format, found 99");
  // Each truncation, and each changed byte, gives an error of one line.
  const std::string whole = Artifact();
  for (size_t i = 0; i < whole.size(); ++i) {
    EXPECT_EQ(error(whole.substr(0, i)).find('\n'), std::string::npos);
    for (const int change : {1, 0x80, 0xff}) {
      std::string bytes = whole;
      bytes[i] = static_cast<char>(bytes[i] ^ change);
      EXPECT_EQ(error(bytes).find('\n'), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace ember::tests
