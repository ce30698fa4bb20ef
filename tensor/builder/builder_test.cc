#include "tensor/builder/builder.h"

#include <string>

#include "gtest/gtest.h"
#include "tensor/text/text.h"

namespace ember::tensor {
namespace {

// The fixture: a dispatch with one stage over the axes i < 8, j < 64, n < N and
// u < 1. A test builds an index expression of these axes and compares the text
// to which it is simplified.
class SimplifyTest : public ::testing::Test {
 protected:
  SimplifyTest() {
    n_extent = b.Parameter("N");
    y = b.AddBuffer("y", DType::kI64, BufferKind::kOutput,
                    {b.Index(8), b.Index(64), n_extent, b.Index(1)});
    x = b.AddBuffer("x", DType::kF32, BufferKind::kInput, {b.Index(16)});
    k = b.AddBuffer("k", DType::kI32, BufferKind::kInput, {b.Index(16)});
    s = &b.AddStage();
    i = s->SpatialAxis("i", b.Index(8));
    j = s->SpatialAxis("j", b.Index(64));
    n = s->SpatialAxis("n", n_extent);
    u = s->SpatialAxis("u", b.Index(1));
  }

  // Stores the value to %y, with a cast if its type is not i64, and returns the
  // text of the stored expression. Ends the stage.
  std::string TextOf(Scalar value) {
    s->Yield(Cast(value, DType::kI64), y, {{i, j, n, u}});
    const std::string text = Print(b.Finish());
    const size_t begin = text.find("] = ") + 4;
    return text.substr(begin, text.find('\n', begin) - begin);
  }

  DispatchBuilder b{"t"};
  StageBuilder* s;
  int x, k, y;
  Scalar n_extent, i, j, n, u;
};

#define EXPECT_SIMPLIFIES(name, expression, text) \
  TEST_F(SimplifyTest, name) { EXPECT_EQ(TextOf(expression), text); }

EXPECT_SIMPLIFIES(AddZero, i + 0, "i")
EXPECT_SIMPLIFIES(MultiplyOne, i * 1, "i")
EXPECT_SIMPLIFIES(MultiplyZero, i * 0, "0")
EXPECT_SIMPLIFIES(ConstantsAdd, (i + 3) + 4, "i + 7")
EXPECT_SIMPLIFIES(ConstantsCancel, (i + 3) - 3, "i")
EXPECT_SIMPLIFIES(NegativeConstantsSubtract, i + j - 1, "i + j - 1")
EXPECT_SIMPLIFIES(OrderDoesNotMatter, (j + i * 3) - (i * 3 + j) + n_extent + i,
                  "i + N")
EXPECT_SIMPLIFIES(ProductsHaveOneOrder, j* i - i * j, "0")
EXPECT_SIMPLIFIES(TermsCancel, (i * 64 + j) - i * 64, "j")
EXPECT_SIMPLIFIES(TermsCollect, i + j + i, "i * 2 + j")
EXPECT_SIMPLIFIES(ConstantMinusAxis, b.Index(7) - i, "7 - i")
EXPECT_SIMPLIFIES(AxisOfExtentOneIsZero, i + u * 5, "i")
EXPECT_SIMPLIFIES(DivideByOne, FloorDivide(i, 1), "i")
EXPECT_SIMPLIFIES(ModuloOne, Modulo(i, 1), "0")
EXPECT_SIMPLIFIES(DivideMultiple, FloorDivide(i * 64, 64), "i")
EXPECT_SIMPLIFIES(DivideFlattened, FloorDivide(i * 64 + j, 64), "i")
EXPECT_SIMPLIFIES(ModuloFlattened, Modulo(i * 64 + j, 64), "j")
EXPECT_SIMPLIFIES(DivideByFactor, FloorDivide(i * 64 + j, 128),
                  "floordiv(i, 2)")
EXPECT_SIMPLIFIES(ModuloByFactor, Modulo(i * 64 + j, 128), "mod(i, 2) * 64 + j")
EXPECT_SIMPLIFIES(DivideSplits, FloorDivide(i * 64 + j, 8),
                  "i * 8 + floordiv(j, 8)")
EXPECT_SIMPLIFIES(DivideTwice, FloorDivide(FloorDivide(j, 4), 4),
                  "floordiv(j, 16)")
EXPECT_SIMPLIFIES(DivideInRange, FloorDivide(j + 64, 128), "0")
EXPECT_SIMPLIFIES(DivideInLaterBucket, FloorDivide(j + 128, 64), "2")
EXPECT_SIMPLIFIES(DivideNegative, FloorDivide(j - 64, 64), "-1")
EXPECT_SIMPLIFIES(ModuloInRange, Modulo(j + 128, 64), "j")
EXPECT_SIMPLIFIES(ModuloNotProvable, Modulo(j + 1, 64), "mod(j + 1, 64)")
EXPECT_SIMPLIFIES(ModuloOfModulo, Modulo(Modulo(j, 32), 8), "mod(j, 8)")
EXPECT_SIMPLIFIES(QuotientAndRemainderJoin,
                  FloorDivide(j, 8) * 8 + Modulo(j, 8), "j")
EXPECT_SIMPLIFIES(QuotientOfAnotherScaleStays,
                  FloorDivide(j, 8) * 4 + Modulo(j, 8),
                  "floordiv(j, 8) * 4 + mod(j, 8)")
EXPECT_SIMPLIFIES(QuotientOfAnotherDivisorStays,
                  FloorDivide(j, 4) * 8 + Modulo(j, 8),
                  "floordiv(j, 4) * 8 + mod(j, 8)")
EXPECT_SIMPLIFIES(FlattenUnflattenFlatten,
                  (FloorDivide(i * 64 + j, 8)) * 8 + Modulo(i * 64 + j, 8),
                  "i * 64 + j")
EXPECT_SIMPLIFIES(SymbolicExtentsKeep, FloorDivide(i * 64 + n, 64),
                  "i + floordiv(n, 64)")
EXPECT_SIMPLIFIES(LoadsMayWrap,
                  FloorDivide(Cast(s->Load(k, {i}), DType::kI64) * 4, 4),
                  "i64(%k[i])")
EXPECT_SIMPLIFIES(MinimumOfEqual, Minimum(i, i), "i")
EXPECT_SIMPLIFIES(MinimumByRange, Minimum(i, b.Index(7)), "i")
EXPECT_SIMPLIFIES(MinimumNotByRange, Minimum(i, b.Index(6)), "min(i, 6)")
EXPECT_SIMPLIFIES(ClampDissolves, Maximum(Minimum(j, b.Index(100)), b.Index(0)),
                  "j")
EXPECT_SIMPLIFIES(CompareByRange, Select(i < b.Index(8), i, j), "i")
EXPECT_SIMPLIFIES(CompareNotByRange, Select(i < b.Index(7), i, j),
                  "select(i < 7, i, j)")
EXPECT_SIMPLIFIES(SelectOfEqual, Select(i < j, n, n), "n")
EXPECT_SIMPLIFIES(FloatsAddMinusZero,
                  s->Load(x, {i}) + s->Value(-0.0, DType::kF32), "i64(%x[i])")
EXPECT_SIMPLIFIES(FloatsKeepPlusZero,
                  s->Load(x, {i}) + s->Value(0.0, DType::kF32),
                  "i64(%x[i] + 0.0)")
EXPECT_SIMPLIFIES(FloatsKeepTimesZero,
                  s->Load(x, {i}) * s->Value(0.0, DType::kF32),
                  "i64(%x[i] * 0.0)")
EXPECT_SIMPLIFIES(FloatsTimesOne, s->Load(x, {i}) * s->Value(1.0, DType::kF32),
                  "i64(%x[i])")
EXPECT_SIMPLIFIES(FloatConstantsFold,
                  s->Value(1.5, DType::kF32) * s->Value(2, DType::kF32), "3")
EXPECT_SIMPLIFIES(TranscendentalsDoNotFold, Exp(s->Value(0.0, DType::kF32)),
                  "i64(exp(0.0))")
EXPECT_SIMPLIFIES(CastThereAndBack,
                  Cast(Cast(s->Load(k, {i}), DType::kI64), DType::kI32),
                  "i64(%k[i])")
EXPECT_SIMPLIFIES(NarrowingCastStays, Cast(Cast(i, DType::kI8), DType::kI64),
                  "i64(i8(i))")
EXPECT_SIMPLIFIES(PadInBoundsLoads,
                  s->Pad(x, {{i + 8}}, s->Value(0, DType::kF32)),
                  "i64(%x[i + 8])")
EXPECT_SIMPLIFIES(PadOutOfBoundsIsTheDefault,
                  s->Pad(x, {{i + 16}}, s->Value(3, DType::kF32)), "3")
EXPECT_SIMPLIFIES(PadStays, s->Pad(x, {{i + 9}}, s->Value(3, DType::kF32)),
                  "i64(pad(%x[i + 9], 3.0))")
EXPECT_SIMPLIFIES(DoubleNegation, -(-s->Load(x, {i})), "i64(%x[i])")
EXPECT_SIMPLIFIES(ProductsGatherConstants, (n_extent * 2) * (n_extent * 3),
                  "N * N * 6")

EXPECT_SIMPLIFIES(SymbolicQuotient, FloorDivide(i* n_extent + n, n_extent), "i")
EXPECT_SIMPLIFIES(SymbolicRemainder, Modulo(i* n_extent + n, n_extent), "n")
EXPECT_SIMPLIFIES(SymbolicOuter,
                  FloorDivide(i*(n_extent * 64) + n * 64 + j, n_extent * 64),
                  "i")
EXPECT_SIMPLIFIES(SymbolicInner,
                  Modulo(i*(n_extent * 64) + n * 64 + j, n_extent * 64),
                  "j + n * 64")
EXPECT_SIMPLIFIES(SymbolicMiddle,
                  Modulo(FloorDivide(i*(n_extent * 64) + n * 64 + j, 64),
                         n_extent),
                  "n")
EXPECT_SIMPLIFIES(SymbolicHorner,
                  FloorDivide((i * 64 + j) * n_extent + n, n_extent),
                  "i * 64 + j")
EXPECT_SIMPLIFIES(SymbolicNotProvable,
                  FloorDivide(i* n_extent + n + 1, n_extent),
                  "floordiv(i * N + n + 1, N)")
EXPECT_SIMPLIFIES(SymbolicDivisorMayBeZero, FloorDivide(i* n_extent, n_extent),
                  "floordiv(i * N, N)")

TEST(BuilderTest, SymbolicPadInBoundsBecomesALoad) {
  DispatchBuilder b("t");
  const Scalar n = b.Parameter("N");
  const int x = b.AddBuffer("x", DType::kF32, BufferKind::kInput, {n});
  const int y = b.AddBuffer("y", DType::kF32, BufferKind::kOutput, {n});
  StageBuilder& s = b.AddStage();
  const Scalar i = s.SpatialAxis("i", n);
  s.Yield(s.Pad(x, {{i}}, s.Value(0, DType::kF32)), y, {{i}});
  EXPECT_EQ(
      Print(b.Finish()),
      "dispatch @t<N>(%x: f32[N]) -> (%y: f32[N]) {\n  %y[i] = %x[i]\n}\n");
}

TEST(BuilderTest, SortsBuffersDropsUnusedAndFixesNames) {
  DispatchBuilder b("resnet/conv:0");
  b.Parameter("Unused");
  const Scalar n = b.Parameter("N");
  const int t = b.AddBuffer("t", DType::kF32, BufferKind::kTemporary, {n});
  const int y = b.AddBuffer("a b", DType::kF32, BufferKind::kOutput, {n});
  const int x = b.AddBuffer("a/b", DType::kF32, BufferKind::kInput, {n});
  StageBuilder& s1 = b.AddStage();
  // The name of the axis is that of the parameter, so Finish must rename the
  // axis.
  const Scalar i = s1.SpatialAxis("N", n);
  // No instruction uses this load, so Finish must drop it.
  s1.Load(x, {i * 2});
  s1.Yield(s1.Load(x, {i}), t, {{i}});
  StageBuilder& s2 = b.AddStage();
  const Scalar j = s2.SpatialAxis("1st", n);
  s2.Yield(s2.Load(t, {j}), y, {{j}});
  EXPECT_EQ(Print(b.Finish()),
            "dispatch @resnet_conv_0<N>(%a_b_1: f32[N]) -> (%a_b: f32[N]) {\n"
            "  temp %t: f32[N]\n"
            "  %t[N_1] = %a_b_1[N_1]\n"
            "  %a_b[_1st] = %t[_1st]\n"
            "}\n");
}

TEST(BuilderTest, HeaderHoldsWhatDependsOnParametersOnly) {
  DispatchBuilder b("t");
  const Scalar n = b.Parameter("N");
  const int y = b.AddBuffer("y", DType::kF32, BufferKind::kOutput, {n});
  StageBuilder& s = b.AddStage();
  const Scalar i = s.SpatialAxis("i", n);
  s.Yield(Cast(i, DType::kF32) / Cast(n * 2, DType::kF32), y, {{i}});
  const Dispatch dispatch = b.Finish();
  // The header has 4 instructions: N, 2, N * 2 and its cast. The stage has 3:
  // i, its cast and the division.
  EXPECT_EQ(dispatch.header_end, 4u);
  EXPECT_EQ(dispatch.instructions.size(), 7u);
}

TEST(BuilderTest, ReductionOverNothingIsAPlainStage) {
  DispatchBuilder b("t");
  const int x = b.AddBuffer("x", DType::kF32, BufferKind::kInput, {});
  const int y = b.AddBuffer("y", DType::kF32, BufferKind::kOutput, {});
  StageBuilder& s = b.AddStage();
  s.Yield(s.Load(x, {}), y, {}, Combiner::kSum);
  EXPECT_EQ(b.Finish().stages[0].combiner, Combiner::kNone);
}

TEST(BuilderDeathTest, OurMistakesAreChecks) {
  DispatchBuilder b("t");
  const int y =
      b.AddBuffer("y", DType::kF32, BufferKind::kOutput, {b.Index(4)});
  StageBuilder& s = b.AddStage();
  const Scalar i = s.SpatialAxis("i", b.Index(4));
  EXPECT_DEATH(i + s.Value(1, DType::kF32), "\\+ of i64 and f32");
  EXPECT_DEATH(Exp(i), "exp of i64");
  EXPECT_DEATH(s.Load(y, {i, i}), "buffer %y has 1 dims, found 2 indices");
  EXPECT_DEATH(b.Finish(), "expected at least one store");
  StageBuilder& other = b.AddStage();
  const Scalar j = other.SpatialAxis("j", b.Index(4));
  EXPECT_DEATH(i + j, "is used in stage");
}

}  // namespace
}  // namespace ember::tensor
