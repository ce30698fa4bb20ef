#include "jit/loops/analysis/matrix_operation.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "jit/loops/evaluator/evaluator.h"
#include "jit/loops/testing/verifier.h"
#include "jit/loops/text/text.h"
#include "jit/loops/verifier/verifier.h"
#include "tensor/scalar.h"

namespace ember::loops {
namespace {

// Returns a nest with this body in its only phase. Among its buffers, %a and %b
// are f16, %u and %v are bytes, %y is f32 and %z is i32; the others include
// accumulators.
std::string With(const std::string& body) {
  return R"(loops @t<N>(%a: input f16[64, 32], %b: input f16[32, 64],
                        %u: input u8[64, 32], %v: input i8[64, 32],
                        %g: input f16[N, N], %i: input i64[4],
                        %y: output f32[64, 64], %z: output i32[64, 64],
                        %h: output f16[64, 64], %o: output f32[N, N]) {
              task %s: f16[64, 32]
              register %f: f32[4, 2, 16, 16]
              register %e: f16[4, 16, 8]
              register %n: i32[4, 16, 16]
              register %p: f32[4, 8, 8]
              phase t < 1 {)" +
         body + "}}";
}

std::string ErrorOfBody(const std::string& body) {
  std::string error = ErrorOf(With(body));
  error = WithoutContext(std::move(error), "loops @t: ");
  return WithoutContext(std::move(error), "phase 0: ");
}

// Returns the verifier's error for this body inside of a subgroup loop; "" if
// there is none. Statements before the body fill the accumulators, so that it
// may read them.
std::string ErrorIn(const std::string& body) {
  return ErrorOfBody(
      R"(subgroup s < 4 {
           matrix m < 16 { matrix n < 16 { %f[s, 1, m, n] = 0.5 } }
           matrix m < 16 { matrix n < 8 { %e[s, m, n] = 0.0 } }
           matrix m < 16 { matrix n < 16 { %n[s, m, n] = 7 } }
           for k0 < 2 { )" +
      body + "} }");
}

// A test fixture that finds the operation of the first matrix loop of a nest.
class MatrixOperationTest : public ::testing::Test {
 protected:
  MatrixOperation Find(const std::string& body) {
    StatusOr<LoopNest> parsed = Parse(With("subgroup s < 4 { " + body + " }"));
    EXPECT_TRUE(parsed.ok()) << parsed.status().message();
    nest_ = *std::move(parsed);
    const Statement& loop = nest_.phases[0].body[0];
    const StatusOr<MatrixOperation> found =
        MatrixOperationOf(nest_, loop.body[0], loop.variable);
    EXPECT_TRUE(found.ok()) << found.status().message();
    return *found;
  }
  std::string Text(std::span<const NodeId> indices) const {
    std::string text;
    for (NodeId index : indices) text += ToText(nest_, index) + "; ";
    return text;
  }

  LoopNest nest_;
};

TEST_F(MatrixOperationTest, Fill) {
  const MatrixOperation fill =
      Find("matrix m < 16 { matrix n < 8 { %e[s, m, n] = 0.5 } }");
  EXPECT_EQ(fill.kind, MatrixOperation::Kind::kFill);
  EXPECT_EQ(fill.rows, 16);
  EXPECT_EQ(fill.columns, 8);
  EXPECT_EQ(nest_.buffers[fill.accumulator].name, "e");
  EXPECT_EQ(Text(fill.accumulator_indices), "s; m; n; ");
  EXPECT_EQ(tensor::BitsToDouble(nest_.pool[fill.value].immediate, DType::kF16),
            0.5);
}

TEST_F(MatrixOperationTest, ProductByRows) {
  const MatrixOperation product = Find(
      "matrix m < 16 { matrix n < 16 { matrix k < 8 { %f[s, 1, m, n] += "
      "f32(%a[s * 16 + m, k + 16]) * f32(%b[k + 16, n + 8]) } } }");
  EXPECT_EQ(product.kind, MatrixOperation::Kind::kProduct);
  EXPECT_EQ(ToText(TypeOf(nest_, product)), "16x16x8:f16:f16:f32");
  EXPECT_TRUE(product.a.IsRowMajor());
  EXPECT_EQ(product.a.stride(), 32);
  EXPECT_EQ(Text(product.a.indices), "s * 16 + m; k + 16; ");
  EXPECT_TRUE(product.b.IsRowMajor());
  EXPECT_EQ(product.b.stride(), 64);
}

// Shows that the finder accepts a product whose factors are written in the
// opposite order, whose matrices are stored by columns, and of which one factor
// is signed and the other unsigned.
TEST_F(MatrixOperationTest, ProductByColumns) {
  const MatrixOperation product = Find(
      "matrix m < 16 { matrix n < 16 { matrix k < 32 { %n[s, m, n] += "
      "i32(%v[n, k]) * i32(%u[k + 32, m]) } } }");
  EXPECT_EQ(ToText(TypeOf(nest_, product)), "16x16x32:u8:i8:i32");
  EXPECT_EQ(nest_.buffers[product.a.buffer].name, "u");
  EXPECT_FALSE(product.a.IsRowMajor());
  EXPECT_EQ(product.a.row_stride, 1);
  EXPECT_EQ(product.a.stride(), 32);
  EXPECT_FALSE(product.b.IsRowMajor());
  EXPECT_EQ(product.b.stride(), 32);
}

TEST_F(MatrixOperationTest, Store) {
  const MatrixOperation store = Find(
      "matrix m < 16 { matrix n < 16 { %y[n + 16, s * 16 + m] = "
      "%f[s, 0, m, n] } }");
  EXPECT_EQ(store.kind, MatrixOperation::Kind::kStore);
  EXPECT_EQ(nest_.buffers[store.accumulator].name, "f");
  EXPECT_EQ(Text(store.accumulator_indices), "s; 0; m; n; ");
  EXPECT_EQ(nest_.buffers[store.destination.buffer].name, "y");
  EXPECT_FALSE(store.destination.IsRowMajor());
  EXPECT_EQ(store.destination.stride(), 64);
}

TEST(MatrixTypeTest, Text) {
  for (const char* text :
       {"16x16x16:f16:f16:f32", "16x8x32:i8:u8:i32", "8x8x8:f16:f16:f16",
        "256x1x2:u8:u8:i32", "16x8x8:f32:f32:f32"}) {
    const std::optional<MatrixType> type = ParseMatrixType(text);
    ASSERT_TRUE(type.has_value()) << text;
    EXPECT_EQ(ToText(*type), text);
  }
  for (const char* text :
       {"", "16x16:f16:f16:f32", "16x16x16:f16:f16", "16x16x16:f16:f16:i32",
        "16x16x0:f16:f16:f32", "16x16x257:f16:f16:f32", "16x16x16:f32:f32:f16",
        "16x16x16:f64:f64:f64", "16x16x16:i8:f16:i32", "axbxc:f16:f16:f32",
        "16x16x16:f16:f16:f32:", "16x16x16 :f16:f16:f32"}) {
    EXPECT_FALSE(ParseMatrixType(text).has_value()) << text;
  }
}

// --- Matrix loops that the verifier refuses. ---

TEST(MatrixVerifierTest, Products) {
  const std::string loops = "matrix m < 16 { matrix n < 16 { matrix k < 16 { ";
  const auto error = [&](const std::string& store) {
    return ErrorIn(loops + store + " } } }");
  };
  EXPECT_EQ(error("%f[s, 1, m, n] += f32(%a[m, k0 * 16 + k]) * "
                  "f32(%b[k0 * 16 + k, n])"),
            "");
  EXPECT_EQ(error("%n[s, m, n] += i32(%u[m, k]) * i32(%v[n, k])"), "");
  const std::string wrong = "a matrix loop: expected ";
  EXPECT_EQ(error("%f[s, 1, m, n] = f32(%a[m, k]) * f32(%b[k, n])"),
            wrong + "a product, added to an accumulator");
  EXPECT_EQ(error("%f[s, 1, m, n] += f32(%a[m, k])"),
            wrong + "a product, added to an accumulator");
  EXPECT_EQ(error("%f[s, 1, m, n] += f32(%a[m, k]) * 2.0"),
            wrong + "factors that are loads, cast to the sum's type");
  EXPECT_EQ(error("%f[s, 1, m, n] += %y[m, k] * %y[k, n]"),
            "load of %y: before any store to it");
  EXPECT_EQ(error("%n[s, m, n] += i32(%u[m, k]) * i32(%i[k0])"),
            "a matrix loop: there are no products of u8 and i64 in i32");
  EXPECT_EQ(error("%f[s, 1, m, n] += f32(%u[m, k]) * f32(%v[n, k])"),
            "a matrix loop: there are no products of u8 and i8 in f32");
  EXPECT_EQ(error("%f[s, 1, m, n] += f32(%a[m, n]) * f32(%b[k, n])"),
            wrong +
                "a factor without the variable of the columns, and one "
                "without that of the rows");
  EXPECT_EQ(error("%f[s, 1, m, n] += f32(%a[m * 2, k]) * f32(%b[k, n * 2])"),
            wrong + "one dim to move by 1 and the other by a stride");
  EXPECT_EQ(error("%f[s, 1, m, n] += f32(%a[m, 0]) * f32(%b[k, n])"),
            wrong + "one dim to move by 1 and the other by a stride");
  EXPECT_EQ(error("%f[s, 1, m, n] += f32(%a[15 - m, k]) * f32(%b[k, n])"),
            wrong + "one dim to move by 1 and the other by a stride");
  EXPECT_EQ(error("%f[s, 1, m, n] += f32(%a[mod(m, 8), k]) * f32(%b[k, n])"),
            wrong + "indices that move evenly with the loops");
  EXPECT_EQ(ErrorIn("if 16 <= N { matrix m < 16 { matrix n < 16 { matrix k < "
                    "16 { %f[s, 1, m, n] += f32(%g[m, k]) * f32(%b[k, n]) } } "
                    "} }"),
            wrong + "a constant stride between rows");
  EXPECT_EQ(error("%f[s, 1, m, n] += f32(%a[m, k0 * 4 + k]) * f32(%b[k, n])"),
            wrong +
                "rows that begin at multiples of 16 bytes, found a proof "
                "of 8");
  EXPECT_EQ(error("%f[s, 1, m, n] += f32(%a[m, k]) * f32(%b[k, n + 1])"),
            wrong +
                "rows that begin at multiples of 16 bytes, found a proof "
                "of 2");
  EXPECT_EQ(error("%f[s, k0, m, n] += f32(%a[m, k]) * f32(%b[k, n])"),
            "store to %f: index 1: expected nothing but unrolled variables, "
            "found k0");
}

TEST(MatrixVerifierTest, Loops) {
  const std::string wrong = "a matrix loop: expected ";
  const std::string alone =
      wrong + "two or three loops, each alone in the one around it";
  EXPECT_EQ(ErrorIn("matrix m < 16 { %f[s, 1, m, 0] = 0.0 }"), alone);
  EXPECT_EQ(ErrorIn("matrix m < 16 { matrix n < 16 { } }"), alone);
  EXPECT_EQ(ErrorIn("matrix m < 16 { matrix n < 16 { %f[s, 1, m, n] = 0.0 "
                    "%f[s, 0, m, n] = 0.0 } }"),
            alone);
  EXPECT_EQ(ErrorIn("matrix m < 16 { matrix n < 16 { matrix k < 2 { matrix l < "
                    "2 { %f[s, 1, m, n] = 0.0 } } } }"),
            alone);
  EXPECT_EQ(ErrorIn("matrix m < 16 { for n < 16 { %h[m, n] = 0.0 } }"),
            wrong + "two or three loops, each alone in the one around it");
  EXPECT_EQ(ErrorIn("matrix m < 16 { matrix n < 16 { if m < n { "
                    "%f[s, 1, m, n] = 0.0 } } }"),
            wrong + "one store of one value");
  EXPECT_EQ(
      ErrorIn("matrix m < 257 { matrix n < 16 { %f[s, 1, m, n] = 0.0 } }"),
      "extent of m: expected a constant in 1..256 for a matrix loop, "
      "found 257");
}

TEST(MatrixVerifierTest, FillsAndStores) {
  const std::string wrong = "a matrix loop: expected ";
  const std::string registers =
      wrong +
      "registers of the subgroup that are a matrix in their last two "
      "dims";
  const auto error = [&](const std::string& store) {
    return ErrorIn("matrix m < 16 { matrix n < 16 { " + store + " } }");
  };
  EXPECT_EQ(error("%f[s, 1, m, n] += 1.0"),
            wrong + "a matrix to be filled by an assignment");
  EXPECT_EQ(error("%f[s, 1, n, m] = 1.0"), registers);
  EXPECT_EQ(error("%s[m, n] = 1.0"), registers);
  EXPECT_EQ(error("%f[s, 1, m, n] = f32(N)"),
            wrong + "a constant, or the assignment of an accumulator");
  EXPECT_EQ(ErrorIn("matrix m < 8 { matrix n < 16 { %f[s, 1, m, n] = 1.0 } }"),
            registers);
  EXPECT_EQ(error("%y[s * 16 + m, n] = %f[s, 1, m, n]"), "");
  EXPECT_EQ(error("%y[n, s * 16 + m] = %f[s, 1, m, n]"), "");
  EXPECT_EQ(error("%y[s * 16 + m, n] += %f[s, 1, m, n]"),
            "store to %y: an update before any store to it");
  EXPECT_EQ(error("%y[s * 16 + m, n] = %f[s, 1, m, n] + 1.0"),
            wrong + "a constant, or the assignment of an accumulator");
  EXPECT_EQ(error("%h[s * 16 + m, n] = f16(%f[s, 1, m, n])"),
            wrong + "a constant, or the assignment of an accumulator");
  EXPECT_EQ(error("%y[s * 16 + m, n] = f32(%a[m, n])"),
            wrong + "a constant, or the assignment of an accumulator");
  EXPECT_EQ(error("%y[m + n, n] = %f[s, 1, m, n]"),
            wrong + "one dim to move by 1 and the other by a stride");
  EXPECT_EQ(ErrorOfBody("subgroup s < 4 { matrix m < 8 { matrix n < 8 { "
                        "%p[s, m, n] = 0.0 } } matrix m < 8 { matrix n < 8 { "
                        "%y[s, m * 4 + n] = %p[s, m, n] } } }"),
            wrong + "rows that do not overlap");
  EXPECT_EQ(error("%y[s * 16 + m, %i[k0] + n] = %f[s, 1, m, n]"),
            "store to %y: index 1: expected a proof of 0 <= %i[k0] + n < 64, "
            "found none");
  EXPECT_EQ(error("%y[s * 16 + m, min(max(%i[k0], 0), 3) * 16 + n] = "
                  "%f[s, 1, m, n]"),
            wrong + "indices without loads");
}

TEST(MatrixVerifierTest, WhatStandsWhere) {
  const std::string only =
      "a subgroup loop: expected matrix loops in it, in serial and unrolled "
      "ones and branches, found something else";
  EXPECT_EQ(ErrorOfBody("matrix m < 4 { matrix n < 4 { %y[m, n] = 0.0 } }"),
            "a matrix loop: expected a subgroup loop around it");
  EXPECT_EQ(ErrorIn("%y[s, 0] = 0.0"), only);
  EXPECT_EQ(ErrorIn("vector l < 4 { }"), only);
  EXPECT_EQ(ErrorIn("check %i.0 s < 4"), only);
  EXPECT_EQ(ErrorIn("prefetch %a 4"), only);
  EXPECT_EQ(ErrorIn("unroll u < 2 { if s < 2 { matrix m < 16 { matrix n < 16 { "
                    "%f[s, u, m, n] = 0.0 } } } }"),
            "");
  EXPECT_EQ(ErrorIn("invocation i < 4 { }"),
            "variable i: an invocation loop in an invocation loop");
  EXPECT_EQ(ErrorOfBody("invocation i < 4 { subgroup s < 4 { } }"),
            "variable s: an invocation loop in an invocation loop");
  EXPECT_EQ(ErrorOfBody("vector l < 4 { subgroup s < 4 { } }"),
            "variable s: an invocation loop in a vector loop");
  EXPECT_EQ(ErrorOfBody("subgroup s < N { }"),
            "extent of s: expected a constant in 1..1048576 for an invocation "
            "loop, found N");
}

// Checks that only matrix loops may access accumulators, and that a subgroup
// loop does not read a buffer that it stores to.
TEST(MatrixVerifierTest, Accesses) {
  const std::string fill =
      "subgroup s < 4 { matrix m < 8 { matrix n < 8 { %p[s, m, n] = 0.0 } } } ";
  const std::string others =
      "buffer %p: expected accesses of matrix loops only, as in one, found "
      "others";
  EXPECT_EQ(ErrorOfBody(fill), "");
  EXPECT_EQ(ErrorOfBody(fill + "invocation i < 4 { %p[i, 1, 2] = 0.0 }"),
            others);
  EXPECT_EQ(ErrorOfBody(fill + "invocation i < 4 { %y[i, 0] = %p[i, 1, 2] }"),
            others);
  EXPECT_EQ(ErrorOfBody(fill + "subgroup s < 4 { if %p[s, 0, 0] < 1.0 { } }"),
            "load of %p: expected no registers but accumulators in a subgroup "
            "loop");
  EXPECT_EQ(ErrorOfBody(fill + "subgroup s < 2 { matrix m < 8 { matrix n < 8 { "
                               "%p[s, m, n] = 0.0 } } }"),
            "store to %p: index 0: expected the variable of an invocation loop "
            "of extent 4, as elsewhere, found s");
  EXPECT_EQ(ErrorOfBody("subgroup s < 4 { matrix m < 16 { matrix n < 8 { "
                        "%e[s, m, n] = 0.0 } } matrix m < 16 { matrix n < 8 { "
                        "%h[s * 16 + m, n] = %e[s, m, n] } } "
                        "matrix m < 16 { matrix n < 8 { matrix k < 16 { "
                        "%e[s, m, n] += %h[m, k] * %b[k, n] } } } }"),
            "buffer %h: expected a subgroup loop to read it or to store to it, "
            "found both");
}

// --- Results of matrix loops in the evaluator. ---

// Two subgroups multiply matrices of 32 x 32 in steps of 16 x 16 x 8. The
// evaluator's result must equal a plain sum, in both orders of invocations.
TEST(MatrixEvaluatorTest, Product) {
  const StatusOr<LoopNest> nest = Parse(
      R"(loops @product(%a: input f16[32, 32], %b: input f16[32, 32],
                        %y: output f32[32, 32]) {
           task %tile: f16[8, 32]
           register %sum: f32[2, 2, 16, 16]
           phase t < 1 {
             subgroup s < 2 {
               unroll j < 2 {
                 matrix m < 16 { matrix n < 16 { %sum[s, j, m, n] = 0.5 } }
               }
             }
             for k0 < 4 {
               invocation i < 32 {
                 for r < 8 { %tile[r, i] = %b[k0 * 8 + r, i] }
               }
               subgroup s < 2 {
                 unroll j < 2 {
                   matrix m < 16 {
                     matrix n < 16 {
                       matrix k < 8 {
                         %sum[s, j, m, n] +=
                             f32(%a[s * 16 + m, k0 * 8 + k]) *
                             f32(%tile[k, j * 16 + n])
                       }
                     }
                   }
                 }
               }
             }
             subgroup s < 2 {
               unroll j < 2 {
                 matrix m < 16 {
                   matrix n < 16 {
                     %y[s * 16 + m, j * 16 + n] = %sum[s, j, m, n]
                   }
                 }
               }
             }
           }
         })");
  ASSERT_TRUE(nest.ok()) << nest.status().message();
  ASSERT_TRUE(Verify(*nest).ok()) << Verify(*nest).message();
  constexpr int64_t kSize = 32;
  std::vector<uint16_t> a(kSize * kSize), b(kSize * kSize);
  std::vector<float> expected(kSize * kSize, 0.5F);
  const auto a_at = [](int64_t i) { return static_cast<double>(i % 7 - 3); };
  const auto b_at = [](int64_t i) { return static_cast<double>(i % 5); };
  for (int64_t i = 0; i < kSize * kSize; ++i) {
    const size_t at = static_cast<size_t>(i);
    a[at] = static_cast<uint16_t>(tensor::DoubleToBits(a_at(i), DType::kF16));
    b[at] = static_cast<uint16_t>(tensor::DoubleToBits(b_at(i), DType::kF16));
    for (int64_t k = 0; k < kSize; ++k) {
      expected[at] += static_cast<float>(a_at(i / kSize * kSize + k) *
                                         b_at(k * kSize + i % kSize));
    }
  }
  for (const bool backwards : {false, true}) {
    std::vector<float> y(kSize * kSize);
    void* const buffers[] = {a.data(), b.data(), y.data()};
    const Status status = Evaluate(
        *nest, {}, buffers, {.backwards = backwards, .refuse_races = true});
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(y, expected);
  }
}

}  // namespace
}  // namespace ember::loops
