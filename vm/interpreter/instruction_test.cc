// Compares every arithmetic instruction, for every type that it accepts, with
// the definition, and the f32 polynomials with libm's functions in double.
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "gtest/gtest.h"
#include "tensor/builder/builder.h"
#include "tensor/text/text.h"
#include "vm/interpreter/plan.h"
#include "vm/interpreter/testing/compare.h"

namespace ember::vm {
namespace {

using tensor::InfoOf;
using tensor::InstructionGroup;
using tensor::Opcode;

std::vector<DType> AllTypes() {
  std::vector<DType> types;
  for (int i = 0; i < kDTypeCount; ++i) types.push_back(static_cast<DType>(i));
  return types;
}

// Makes a dispatch of one stage over [5, 67]: y = make(x, z), where z[j] is the
// same in all rows.
template <typename Make>
void ExpectInstruction(const std::string& name, DType type, Make make) {
  tensor::DispatchBuilder b(name);
  const tensor::Scalar rows = b.Index(5), columns = b.Index(67);
  const int x =
      b.AddBuffer("x", type, tensor::BufferKind::kInput, {rows, columns});
  const int z = b.AddBuffer("z", type, tensor::BufferKind::kInput, {columns});
  tensor::StageBuilder& s = b.AddStage();
  const tensor::Scalar i = s.SpatialAxis("i", rows),
                       j = s.SpatialAxis("j", columns);
  const tensor::Scalar value = make(s.Load(x, {i, j}), s.Load(z, {j}));
  const int y = b.AddBuffer("y", value.type(), tensor::BufferKind::kOutput,
                            {rows, columns});
  const tensor::Scalar indices[] = {i, j};
  s.Yield(value, y, indices);
  CompareOptions options;
  options.tolerance = 1e-6;
  ExpectMatchesDefinition(b.Finish(), options);
}

TEST(InstructionTest, EveryInstructionOnEveryType) {
  for (int i = 0; i < tensor::kOpcodeCount; ++i) {
    const Opcode opcode = static_cast<Opcode>(i);
    const InstructionGroup group = InfoOf(opcode).group;
    if (group == InstructionGroup::kStructural) continue;
    const bool two = group == InstructionGroup::kBinary ||
                     group == InstructionGroup::kCompare;
    for (DType type : AllTypes()) {
      if (!AcceptsType(InfoOf(opcode).kinds, type)) continue;
      const std::string name =
          "op" + std::to_string(i) + "_" + std::string(DTypeName(type));
      ExpectInstruction(name, type, [&](tensor::Scalar x, tensor::Scalar z) {
        return two ? Binary(opcode, x, z) : Unary(opcode, x);
      });
      if (two) {
        ExpectInstruction(name + "_swapped", type,
                          [&](tensor::Scalar x, tensor::Scalar z) {
                            return Binary(opcode, z, x);
                          });
      }
    }
  }
}

TEST(InstructionTest, CastsBitcastsAndSelects) {
  for (DType from : AllTypes()) {
    const std::string name(DTypeName(from));
    for (DType to : AllTypes()) {
      ExpectInstruction(
          "cast_" + name + "_" + std::string(DTypeName(to)), from,
          [&](tensor::Scalar x, tensor::Scalar) { return Cast(x, to); });
      const bool bits = from != DType::kBool && to != DType::kBool;
      if (bits && DTypeByteSize(from) == DTypeByteSize(to)) {
        ExpectInstruction(
            "bits_" + name + "_" + std::string(DTypeName(to)), from,
            [&](tensor::Scalar x, tensor::Scalar) { return Bitcast(x, to); });
      }
    }
    ExpectInstruction("select_" + name, from,
                      [&](tensor::Scalar x, tensor::Scalar z) {
                        return Select(Binary(Opcode::kLess, x, z), x, z);
                      });
  }
}

// Returns the distance between an f32 and an exact value, in units in the last
// place of the exact value as f32.
double UlpError(float found, double exact) {
  const float nearest = static_cast<float>(exact);
  if (std::isnan(exact) || std::isinf(nearest)) {
    const bool same = std::isnan(exact) ? std::isnan(found) : found == nearest;
    return same ? 0 : 1e9;
  }
  int exponent;
  std::frexp(exact, &exponent);
  const double unit = std::ldexp(1.0, std::max(exponent - 24, -149));
  return std::fabs(static_cast<double>(found) - exact) / unit;
}

// Returns the largest error in units in the last place (UlpError) for |x| <=
// limit, over all exponents and a sample of mantissas.
double LargestError(const std::string& function, double (*exact)(double),
                    float limit) {
  constexpr int64_t kCount = 1 << 20;
  const std::string count = std::to_string(kCount);
  const auto dispatch =
      tensor::Parse("dispatch @f(%x: f32[" + count + "]) -> (%y: f32[" + count +
                    "]) { %y[i] = " + function + "(%x[i]) }");
  EXPECT_TRUE(dispatch.ok()) << dispatch.status().message();
  auto plan = Plan::Make(*dispatch, {}, {});
  EXPECT_TRUE(plan.ok());
  std::vector<float> x(kCount), y(kCount);
  for (int64_t i = 0; i < kCount; ++i) {
    const uint32_t bits =
        // The step between bit patterns is odd, so that all exponents occur.
        static_cast<uint32_t>(i * 4093 + 7);
    std::memcpy(&x[i], &bits, 4);
    if (!(std::fabs(x[i]) <= limit))
      x[i] = std::remainder(static_cast<float>(i), limit);
  }
  void* buffers[] = {x.data(), y.data()};
  SerialRunner runner;
  EXPECT_TRUE((*plan)->Run(buffers, runner).ok());
  double largest = 0;
  float where = 0;
  for (int64_t i = 0; i < kCount; ++i) {
    const double error = UlpError(y[i], exact(x[i]));
    if (error > largest) largest = error, where = x[i];
  }
  std::printf("%-6s %.3f ULP at %a = %g\n", function.c_str(), largest, where,
              where);
  return largest;
}

TEST(InstructionTest, PolynomialsStayWithinTheirStatedErrors) {
  const float all = 3.4e38f;
  EXPECT_LE(LargestError("exp", std::exp, all), 1.5);
  EXPECT_LE(LargestError("exp", std::exp, 100), 1.5);
  EXPECT_LE(LargestError("log", std::log, all), 1.5);
  EXPECT_LE(LargestError("log", std::log, 4), 1.5);
  EXPECT_LE(LargestError("expm1", std::expm1, 100), 2.5);
  EXPECT_LE(LargestError("expm1", std::expm1, 1), 2.5);
  EXPECT_LE(LargestError("log1p", std::log1p, all), 2.5);
  EXPECT_LE(LargestError("log1p", std::log1p, 2), 2.5);
  EXPECT_LE(LargestError("tanh", std::tanh, 12), 3.5);
  EXPECT_LE(LargestError("erf", std::erf, 6), 2.0);
  EXPECT_LE(LargestError("sin", std::sin, 30), 2.0);
  EXPECT_LE(LargestError("cos", std::cos, 30), 2.0);
  EXPECT_LE(LargestError("sin", std::sin, 30000), 2.5);
  EXPECT_LE(LargestError("cos", std::cos, 30000), 2.5);
}

}  // namespace
}  // namespace ember::vm
