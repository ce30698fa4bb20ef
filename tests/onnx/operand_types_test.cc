// Tests operators whose operands have, or must not have, different types.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/onnx/one_node.h"

namespace ember::tests {
namespace {

using ::testing::HasSubstr;

// ONNX requires that both factors have one type. Other models are refused,
// because the result would silently have the first factor's precision.
TEST(OperandTypes, FactorsOfTwoTypesAreRefused) {
  for (const char* op : {"MatMul", "Gemm"}) {
    for (const bool narrow_first : {true, false}) {
      Numbers a = F32({2, 2}, {1, 2, 3, 4}), b = F32({2, 2}, {1, 2, 3, 4});
      (narrow_first ? a : b).type = DType::kF16;
      OneNode node(op, 13);
      node.Input(a).Input(b);
      EXPECT_THAT(node.Run().status().ToString(),
                  HasSubstr("expected operands of one type"));
    }
  }
  Numbers x = F32({1, 1, 2, 2}, {1, 2, 3, 4}), w = F32({1, 1, 1, 1}, {2});
  for (const char* op : {"Conv", "ConvTranspose"}) {
    OneNode node(op, 11);
    w.type = DType::kF16;
    node.Input(x).Input(w);
    EXPECT_THAT(node.Run().status().ToString(),
                HasSubstr("expected operands of one type"));
  }
}

// Unlike other factors, the values of an Attention may have another type than
// its queries and keys.
TEST(OperandTypes, ValuesOfAttentionMayBeNarrower) {
  const Numbers q = F32({1, 1, 1, 2}, {1, 2});
  Numbers v = F32({1, 1, 1, 2}, {3, 4});
  v.type = DType::kF16;
  OneNode node("Attention", 23);
  node.Input(q).Input(q).Input(v);
  ExpectNumbers(node.Run(), {F32({1, 1, 1, 2}, {3, 4})});
}

}  // namespace
}  // namespace ember::tests
