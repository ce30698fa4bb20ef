#include "tensor/builder/coefficient.h"

#include <gtest/gtest.h>

#include "tensor/builder/simplify.h"

namespace ember::tensor {
namespace {

class CoefficientTest : public testing::Test {
 protected:
  NodeId Axis(uint64_t number, NodeId extent) {
    return pool_.Intern(Opcode::kAxis, DType::kI64, {{extent}}, number, 1);
  }
  NodeId Make(Opcode opcode, NodeId a, NodeId b) {
    const NodeId operands[] = {a, b};
    return Simplifier(pool_).Make(opcode, DType::kI64, operands);
  }

  ExpressionPool pool_;
};

TEST_F(CoefficientTest, OfSums) {
  const NodeId i = Axis(0, pool_.Integer(64)), j = Axis(1, pool_.Integer(8));
  const NodeId sum =
      Make(Opcode::kAdd, Make(Opcode::kMultiply, i, pool_.Integer(8)), j);
  EXPECT_EQ(CoefficientOf(pool_, sum, i), 8);
  EXPECT_EQ(CoefficientOf(pool_, sum, j), 1);
  EXPECT_EQ(CoefficientOf(pool_, sum, Axis(2, pool_.Integer(8))), 0);
}

TEST_F(CoefficientTest, OfDigitsThereIsNone) {
  const NodeId i = Axis(0, pool_.Integer(64)), j = Axis(1, pool_.Integer(8));
  const NodeId digit = Make(Opcode::kModulo, i, pool_.Integer(4));
  EXPECT_EQ(CoefficientOf(pool_, Make(Opcode::kAdd, digit, j), i),
            std::nullopt);
  EXPECT_EQ(CoefficientOf(pool_, Make(Opcode::kAdd, digit, j), j), 1);
  EXPECT_TRUE(DependsOn(pool_, digit, i));
}

// An axis does not depend on the values from which its extent is computed.
TEST_F(CoefficientTest, ExtentsDoNotCount) {
  const NodeId i = Axis(0, pool_.Integer(64));
  const NodeId inside = Axis(1, Make(Opcode::kAdd, i, pool_.Integer(1)));
  EXPECT_FALSE(DependsOn(pool_, inside, i));
  EXPECT_EQ(CoefficientOf(pool_, inside, i), 0);
}

}  // namespace
}  // namespace ember::tensor
