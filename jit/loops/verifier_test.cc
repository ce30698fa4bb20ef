#include "jit/loops/verifier.h"

#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "jit/loops/text.h"
#include "jit/loops/verifier_testing.h"

namespace ember::loops {
namespace {

using tensor::Opcode;

// --- the signature ---

TEST(VerifierTest, Signature) {
  EXPECT_EQ(ErrorOf("loops @t(%y: output f32[2], %x: input f32[2]) {}"),
            "loops @t: buffer %x: expected inputs, then outputs, then others");
  EXPECT_EQ(ErrorOf("loops @t<N>() { register %r: f32[N] }"),
            "loops @t: buffer %r: expected constant extents and at most 4096 "
            "elements in registers");
  EXPECT_EQ(ErrorOf("loops @t() { register %r: f32[64, 65] }"),
            "loops @t: buffer %r: expected constant extents and at most 4096 "
            "elements in registers");
  EXPECT_EQ(ErrorOf("loops @t() { register %r: f32[64, 64] }"), "");
  EXPECT_EQ(ErrorOf("loops @t<i>() { phase i2 < 1 {} phase i2 < 2 {} }"), "");

  LoopNest nest;
  EXPECT_EQ(ErrorOf(nest), "loops @: expected a name");
  nest.name = "t";
  nest.parameters = {"N", "1"};
  EXPECT_EQ(ErrorOf(nest),
            "loops @t: expected a name for a parameter or variable, found '1'");
  nest.parameters = {"N"};
  nest.variables = {"N"};
  EXPECT_EQ(ErrorOf(nest), "loops @t: two parameters or variables named 'N'");
  nest.variables = {};
  nest.buffers = {{"", DType::kF32, Scope::kInput, {}}};
  EXPECT_EQ(ErrorOf(nest), "loops @t: expected a name for a buffer, found ''");
  nest.buffers = {{"a", DType::kF32, Scope::kInput, {}},
                  {"a", DType::kF32, Scope::kInput, {}}};
  EXPECT_EQ(ErrorOf(nest), "loops @t: two buffers named 'a'");
  nest.buffers.pop_back();
  nest.buffers[0].extents = {nest.pool.Constant(4, DType::kI32)};
  EXPECT_EQ(ErrorOf(nest),
            "loops @t: buffer %a: expected extents of type i64, found i32");
  const NodeId four = nest.pool.Constant(4, DType::kI64);
  nest.buffers[0].extents = {
      nest.pool.Intern(Opcode::kAxis, DType::kI64, {&four, 1}, 0, 1)};
  EXPECT_EQ(ErrorOf(nest),
            "loops @t: buffer %a: expected extents of constants and "
            "parameters, found axis");
}

// --- loops, order of stores ---

TEST(VerifierTest, Variables) {
  EXPECT_EQ(BodyError("vector i < 4 { vector j < 4 { } }"),
            "variable j: a vector loop in a vector loop");
  EXPECT_EQ(
      BodyError("vector i < 65 { }"),
      "extent of i: expected a constant in 1..64 for a vector loop, found "
      "65");
  EXPECT_EQ(BodyError("unroll i < N { }"),
            "extent of i: expected a constant in 1..4096 for an unrolled loop, "
            "found N");
  EXPECT_EQ(BodyError("vector i < 4 { for j < i + 1 { } }"),
            "extent of j: expected nothing of a vector loop, found i");
  EXPECT_EQ(
      BodyError("for j < %l[t - t] { }"),
      "extent of j: load of %l: index 0: expected a proof of 0 <= t - t < "
      "N, found none");
  EXPECT_EQ(BodyError("if 0 < N { for j < %l[0] { } }"),
            "extent of j: expected no loads, found %l[0]");

  StatusOr<LoopNest> nest = Parse(WithBody("for i < 4 { for j < 4 { } }"));
  ASSERT_TRUE(nest.ok());
  Block& body = nest->phases[0].body;
  const NodeId i = body[0].variable, j = body[0].body[0].variable;
  body[0].body[0].variable = i;
  EXPECT_EQ(ErrorOf(*nest),
            "loops @t: phase 0: variable i: bound by a loop around it");
  body[0].body.clear();
  Statement check;
  check.kind = Statement::Kind::kCheck;
  check.index = j;
  check.extent = nest->pool.Constant(4, DType::kI64);
  body.push_back(check);
  EXPECT_EQ(ErrorOf(*nest),
            "loops @t: phase 0: variable j is used outside of its loop");
  body[1].dim = 2;
  EXPECT_EQ(ErrorOf(*nest),
            "loops @t: phase 0: check: expected a buffer and one of its dims");
  body[0].variable = body[1].extent;
  EXPECT_EQ(ErrorOf(*nest),
            "loops @t: phase 0: expected a variable for a loop, found "
            "constant");
}

TEST(VerifierTest, NestingIsBounded) {
  StatusOr<LoopNest> nest = Parse(WithBody("if true { }"));
  ASSERT_TRUE(nest.ok());
  Block* block = &nest->phases[0].body;
  for (int i = 0; i < kMaximumNesting + 1; ++i) {
    block = &(*block)[0].body;
    Statement inner;
    inner.kind = Statement::Kind::kIf;
    inner.condition = nest->phases[0].body[0].condition;
    block->push_back(inner);
  }
  EXPECT_EQ(ErrorOf(*nest),
            "loops @t: phase 0: expected at most 200 statements in each other");
}

TEST(VerifierTest, WhoMayStoreAndLoadWhat) {
  EXPECT_EQ(BodyError("for j < N { %x[j, 0] = 0 }"),
            "store to %x: expected no input or packed buffer");
  EXPECT_EQ(BodyError("for j < N { %w[j] += 1 }"),
            "store to %w: an update before any store to it");
  EXPECT_EQ(BodyError("for j < N { %w[j] = 1 } for j < N { %w[j] += 1 }"), "");
  EXPECT_EQ(BodyError("%s[0] = %s[1]"), "load of %s: before any store to it");
  // Contents of task buffers end with the phase, of call buffers not.
  const std::string two_phases =
      "%s[0] = 1 for j < N { %c[j] = 0 } } phase p < N { ";
  EXPECT_EQ(ErrorOf(WithBody(two_phases + "%y[p, 0] = %c[p]")), "");
  EXPECT_EQ(ErrorOf(WithBody(two_phases + "%s[1] = %s[0]")),
            "loops @t: phase 1: load of %s: before any store to it");

  const auto prologue = [](const std::string& body) {
    return ErrorOf(R"(loops @t(%x: input f32[4], %y: output f32[4]) {
                        packed %p: f32[4]
                        packed %q: f32[4]
                        call %c: f32[4]
                        task %s: f32[4]
                        prologue i < 4 { %p[i] = %x[i] %s[i] = %p[i] })" +
                   body + "}");
  };
  EXPECT_EQ(prologue("prologue i < 4 { %q[i] = %p[i] }"), "");
  EXPECT_EQ(prologue("phase i < 4 { %y[i] = %p[i] + %x[i] }"), "");
  EXPECT_EQ(prologue("prologue i < 4 { %y[i] = %p[i] }"),
            "loops @t: prologue phase 1: store to %y: expected a packed, task "
            "or register buffer in the prologue");
  EXPECT_EQ(prologue("prologue i < 4 { %q[i] = %c[i] }"),
            "loops @t: prologue phase 1: load of %c: expected no output or "
            "call buffer in the prologue");
  EXPECT_EQ(prologue("phase i < 4 { %p[i] = 0 }"),
            "loops @t: phase 0: store to %p: expected no input or packed "
            "buffer");
}

// --- types: of nodes that no text makes ---

class TypesTest : public testing::Test {
 protected:
  TypesTest() : nest_(std::move(*Parse(WithBody("%s[0] = 1 if true { }")))) {}

  Target& store() { return nest_.phases[0].body[0].targets[0]; }
  NodeId Make(Opcode opcode, DType type, std::vector<NodeId> operands,
              uint64_t immediate = 0, uint32_t buffer = 0) {
    return nest_.pool.Intern(opcode, type, operands, immediate, 1, buffer);
  }
  NodeId One(DType type) { return nest_.pool.Constant(1, type); }
  std::string ValueError(NodeId value) {
    store().value = value;
    return ErrorOf(nest_);
  }

  LoopNest nest_;
};

TEST_F(TypesTest, OfInstructions) {
  EXPECT_EQ(ErrorOf(nest_), "");
  const NodeId i64 = One(DType::kI64), f32 = One(DType::kF32);
  EXPECT_EQ(ValueError(f32),
            "loops @t: phase 0: store to %s: expected i64, found f32");
  EXPECT_EQ(ValueError(Make(Opcode::kAdd, DType::kI64, {i64, f32})),
            "loops @t: phase 0: +: operand 1: expected i64, found f32");
  EXPECT_EQ(ValueError(Make(Opcode::kAdd, DType::kF32, {i64, i64})),
            "loops @t: phase 0: +: result: expected i64, found f32");
  EXPECT_EQ(ValueError(Make(Opcode::kExp, DType::kI64, {i64})),
            "loops @t: phase 0: exp: does not take operands of type i64");
  EXPECT_EQ(ValueError(Make(Opcode::kBitcast, DType::kI64, {f32})),
            "loops @t: phase 0: bitcast: f32 cannot become i64");
  EXPECT_EQ(ValueError(Make(Opcode::kSelect, DType::kI64, {i64, i64, i64})),
            "loops @t: phase 0: select: operand 0: expected bool, found i64");
  EXPECT_EQ(ValueError(Make(Opcode::kAdd, DType::kI64, {i64})),
            "loops @t: phase 0: +: expected 2 operands, found 1");
  EXPECT_EQ(ValueError(nest_.pool.Constant(2, DType::kBool)),
            "loops @t: phase 0: constant: the bits do not fit bool");
  EXPECT_EQ(ValueError(Make(Opcode::kParameter, DType::kI64, {}, 2)),
            "loops @t: phase 0: parameter: expected an i64 parameter of the "
            "nest");
  EXPECT_EQ(
      ValueError(Make(Opcode::kAxis, DType::kI64, {i64, i64})),
      "loops @t: phase 0: axis: expected an i64 variable of the nest with "
      "an extent");
  EXPECT_EQ(ValueError(Make(Opcode::kElement, DType::kI64, {})),
            "loops @t: phase 0: element: expected no values of folds");
}

TEST_F(TypesTest, OfLoadsAndStores) {
  const NodeId i64 = One(DType::kI64), i32 = One(DType::kI32);
  EXPECT_EQ(ValueError(Make(Opcode::kLoad, DType::kI64, {i64}, 0, 99)),
            "loops @t: phase 0: load: expected a buffer below 10, found 99");
  EXPECT_EQ(ValueError(Make(Opcode::kLoad, DType::kI64, {i64, i64}, 0, 0)),
            "loops @t: phase 0: load: expected f32 of %x, found i64");
  EXPECT_EQ(ValueError(Make(Opcode::kLoad, DType::kI64, {i32}, 0, 2)),
            "loops @t: phase 0: load: expected indices of type i64, found i32");
  EXPECT_EQ(ValueError(Make(Opcode::kLoad, DType::kI64, {}, 0, 2)),
            "loops @t: phase 0: load: expected 1 indices of %l, found 0");
  EXPECT_EQ(ValueError(Make(Opcode::kPad, DType::kI64, {i64, i32}, 0, 2)),
            "loops @t: phase 0: pad: expected a default of type i64, found "
            "i32");
  store().value = i64;
  store().indices.clear();
  EXPECT_EQ(ErrorOf(nest_),
            "loops @t: phase 0: store to %s: expected 1 indices of %s, found "
            "0");
  store().buffer = 99;
  EXPECT_EQ(ErrorOf(nest_),
            "loops @t: phase 0: store: expected a buffer below 10, found 99");
  Block& body = nest_.phases[0].body;
  body[0].targets.clear();
  EXPECT_EQ(ErrorOf(nest_),
            "loops @t: phase 0: expected at least one target of a store, found "
            "none");
  body.erase(body.begin());
  body[0].condition = i64;
  EXPECT_EQ(ErrorOf(nest_),
            "loops @t: phase 0: condition 1: expected bool, found i64");
  body[0].kind = Statement::Kind::kCheck;
  body[0].index = i32;
  body[0].extent = i64;
  EXPECT_EQ(ErrorOf(nest_),
            "loops @t: phase 0: check of %x: expected index and extent of type "
            "i64");
  nest_.phases[0].task = Make(Opcode::kAxis, DType::kI64, {i32}, 0);
  EXPECT_EQ(ErrorOf(nest_),
            "loops @t: phase 0: extent of t: expected i64, found i32");
}

TEST(VerifierTest, NoSumsOfBool) {
  EXPECT_EQ(ErrorOf("loops @t(%y: output bool[]) { phase t < 1 {"
                    "%y[] = true  %y[] max= false  %y[] += true } }"),
            "loops @t: phase 0: store to %y: sums and products of bool");
}

// --- registers ---

TEST(VerifierTest, RegisterIndices) {
  EXPECT_EQ(BodyError(R"(unroll i < 4 {
                           vector l < 16 {
                             %r[i, l] = 0
                             %r[mod(i + 1, 4), 16 + l] = %r[i, l]
                           }
                           unroll j < 2 {
                             vector l < 16 { %r[3 - i, j * 16 + l] = 1 }
                           }
                         })"),
            "");
  EXPECT_EQ(BodyError("%r[t, 0] = 0"),
            "store to %r: index 0: expected nothing but unrolled variables, "
            "found t");
  EXPECT_EQ(BodyError("vector l < 4 { %r[l, 0] = 0 }"),
            "store to %r: index 0: expected nothing but unrolled variables, "
            "found l");
  EXPECT_EQ(BodyError("vector l < 4 { %r[0, l * 2] = 0 }"),
            "store to %r: index 1: expected nothing but unrolled variables and "
            "a vector variable, found l * 2");
  EXPECT_EQ(BodyError("for j < 4 { %r[0, j] = 0 }"),
            "store to %r: index 1: expected nothing but unrolled variables and "
            "a vector variable, found j");
  EXPECT_EQ(BodyError("%r[0, 0] = 1 for j < 4 { %y[t, 0] = pad(%r[j, 0], 0) }"),
            "load of %r: index 0: expected nothing but unrolled variables, "
            "found j");
}

// --- invocations ---

TEST(VerifierTest, InvocationLoops) {
  EXPECT_EQ(BodyError("for j < 2 { invocation i < 64 { for k < i { } } }"), "");
  EXPECT_EQ(BodyError("invocation i < N { }"),
            "extent of i: expected a constant in 1..1048576 for an invocation "
            "loop, found N");
  EXPECT_EQ(
      BodyError("invocation i < 4 { for k < 2 { invocation j < 4 { } } }"),
      "variable j: an invocation loop in an invocation loop");
  EXPECT_EQ(BodyError("vector l < 4 { invocation j < 4 { } }"),
            "variable j: an invocation loop in a vector loop");
  EXPECT_EQ(BodyError("invocation i < 4 { vector l < 4 { %s[l] = i } }"), "");
}

TEST(VerifierTest, DotLoops) {
  const auto error = [](const std::string& loop) {
    return WithoutContext(ErrorOf(
        "loops @t(%a: input u8[4, 16], %b: input i8[16, 4], %h: input i16[64], "
        "%f: input bf16[8], %y: output i32[4], %z: output f32[4]) { "
        "phase t < 4 { %y[t] = 0 %z[t] = 0.0 " +
        loop + "}}"));
  };
  const std::string wrong = "a dot loop: expected ";
  EXPECT_EQ(error("dot q < 4 { %y[t] += i32(%a[t, q + 8]) * i32(%b[t, q]) }"),
            "");
  EXPECT_EQ(error("for k < 4 { dot q < 2 { %y[t] += i32(%h[k * 2 + q]) * "
                  "i32(%b[k, q]) } }"),
            "");
  EXPECT_EQ(error("dot q < 2 { %z[t] += f32(%f[q]) * f32(%f[t + q]) }"), "");
  EXPECT_EQ(error("dot q < 4 { %y[t] += i32(%h[q]) * i32(%b[t, q]) }"),
            "a dot loop: there are none of 4 products of i16 and i8 in i32");
  EXPECT_EQ(error("dot q < 3 { %y[t] += i32(%a[t, q]) * i32(%b[t, q]) }"),
            "a dot loop: there are none of 3 products of u8 and i8 in i32");
  EXPECT_EQ(error("dot q < 4 { %y[t] += i32(%a[t, q]) * i32(%b[q, t]) }"),
            wrong + "factors that lie along their last dim as its body");
  EXPECT_EQ(error("dot q < 4 { %y[t] += i32(%a[t, q * 2]) * i32(%b[t, q]) }"),
            wrong + "factors that lie along their last dim as its body");
  EXPECT_EQ(error("dot q < 4 { %y[q] += i32(%a[t, q]) * i32(%b[t, q]) }"),
            wrong + "an update of the same element each time as its body");
  EXPECT_EQ(error("dot q < 4 { %y[t] = i32(%a[t, q]) * i32(%b[t, q]) }"),
            wrong + "a product, added to an element, as its body");
  EXPECT_EQ(error("dot q < 4 { %y[t] += i32(%a[t, q]) * i32(t) }"),
            wrong + "a product of casts of loads as its body");
  EXPECT_EQ(error("dot q < 4 { for k < 2 { } }"),
            wrong + "one store of one value as its body");
}

TEST(VerifierTest, UpdatesByAllInvocationsStandAlone) {
  const auto error = [](const std::string& body) {
    return WithoutContext(
        ErrorOf(
            "loops @t(%x: input f32[4], %k: input i64[4], %y: output f32[4]) { "
            "task %s: f32[4] register %r: f32[1] phase t < 4 { %y[t] = 0.0 "
            "%s[0] = 0.0 %r[0] = 0.0 " +
            body + "}}"),
        "loops @t: phase 0: store to ");
  };
  EXPECT_EQ(error("invocation i < 4 { %y[t] += %x[i] }"), "");
  EXPECT_EQ(error("for j < 4 { invocation i < 4 { { %s[0] max= %x[i] "
                  "%y[t] min= %x[j] } } }"),
            "");
  EXPECT_EQ(error("invocation i < 4 { %s[i] = 0.0 %s[i] += %x[i] }"), "");
  const std::string alone =
      "%s: expected an update by all invocations to stand alone in its loop";
  EXPECT_EQ(error("invocation i < 4 { %s[0] += %x[i] %y[t] = 1.0 }"), alone);
  EXPECT_EQ(error("invocation i < 4 { if i < 2 { %s[0] += %x[i] } }"), alone);
  EXPECT_EQ(error("invocation i < 4 { for j < 4 { %s[j] += %x[i] } }"), alone);
  EXPECT_EQ(error("invocation i < 4 { { %s[0] += %x[i]  %y[i] = 1.0 } }"),
            alone);
  EXPECT_EQ(error("invocation i < 4 { %s[0] += %x[i] + %s[1] }"),
            "%s: all invocations update and read it");
  EXPECT_EQ(error("invocation i < 4 { { %s[0] += %x[i]  %s[1] max= 1.0 } }"),
            "%s: all invocations update it in two ways");
  EXPECT_EQ(error("invocation i < 4 { %r[0] += %x[i] }"),
            "%r: an update before any store to it");
}

// With the invocation as first index registers live across loops.
TEST(VerifierTest, RegistersOfInvocations) {
  const auto error = [](const std::string& body) {
    const std::string text =
        "loops @t(%y: output i64[4]) { register %r: i64[4, 16] "
        "register %s: i64[4] register %o: i64[2] phase t < 4 {" +
        body + "}}";
    const std::string found = ErrorOf(text);
    const std::string context = "loops @t: phase 0: ";
    return found.starts_with(context) ? found.substr(context.size()) : found;
  };
  const std::string fill = "invocation i < 4 { %r[i, 0] = i  %s[i] = i } ";
  EXPECT_EQ(error(fill + "for k < 3 { invocation j < 4 { %r[j, 1] = %r[j, 0] "
                         "%s[j] += %r[j, 1] } }"),
            "");
  const std::string expected =
      "index 0: expected the variable of an invocation loop of extent 4, as "
      "elsewhere, found ";
  EXPECT_EQ(error(fill + "invocation j < 4 { %r[3, 1] = 0 }"),
            "store to %r: " + expected + "3");
  EXPECT_EQ(error(fill + "%y[0] = %s[t]"), "load of %s: " + expected + "t");
  EXPECT_EQ(error(fill + "invocation j < 3 { %y[0] = %s[j] }"),
            "load of %s: " + expected + "j");
  EXPECT_EQ(error(fill + "invocation j < 4 { %y[0] = %s[3 - j] }"),
            "load of %s: " + expected + "3 - j");
  EXPECT_EQ(error("%s[0] = 1 " + fill), "store to %s: " + expected + "0");
  // All phases count.
  EXPECT_EQ(error(fill + "} phase u < 2 { %s[0] = 1"),
            "loops @t: phase 1: store to %s: " + expected + "0");
  EXPECT_EQ(error(fill + "invocation j < 4 { %r[j, j] = 1 }"),
            "store to %r: index 1: expected nothing but unrolled variables and "
            "a vector variable, found j");

  // Without it they hold nothing before and after.
  EXPECT_EQ(error("invocation i < 4 { %o[0] = i  %y[i] = %o[0] }"), "");
  EXPECT_EQ(error("%o[0] = 1 invocation i < 4 { %y[i] = %o[0] }"),
            "load of %o: before any store to it");
  EXPECT_EQ(error("%o[0] = 1 invocation i < 4 { %o[0] += i }"),
            "store to %o: an update before any store to it");
  EXPECT_EQ(error("invocation i < 4 { %o[0] = i } %y[0] = %o[0]"),
            "load of %o: before any store to it");
  EXPECT_EQ(error("%o[0] = 1 invocation i < 4 { %o[0] = i } %y[0] = %o[0]"),
            "load of %o: before any store to it");
  EXPECT_EQ(error("%o[0] = 1 invocation i < 4 { } %y[0] = %o[0]"), "");
  EXPECT_EQ(error("invocation i < 4 { %o[0] = i } "
                  "invocation j < 4 { %y[j] = %o[0] }"),
            "load of %o: before any store to it");
  EXPECT_EQ(ErrorOf("loops @t() { register %r: i64[2, 4096] "
                    "phase t < 4 { invocation i < 2 { %r[i, 0] = i } } }"),
            "");
  EXPECT_EQ(ErrorOf("loops @t() { register %r: i64[2, 4096] "
                    "phase t < 4 { invocation i < 2 { %r[0, 0] = i } } }"),
            "loops @t: buffer %r: expected constant extents and at most 4096 "
            "elements in registers");
}

// What other invocations may have stored meanwhile is no fact.
TEST(VerifierTest, FactsAboutWhatInvocationsShare) {
  const std::string fill = "invocation i < 16 { %s[i] = i } ";
  const std::string use =
      "check %x.0 %s[i] < N for k < 2 { %y[t, k] = %x[%s[i], 0] } ";
  EXPECT_EQ(
      BodyError("if t < N { " + fill + "invocation i < 16 { " + use + "} }"),
      "");
  ExpectNoProof("if t < N { " + fill + "invocation i < 16 { " + use +
                "%s[0] = 1 } }");
  EXPECT_EQ(
      BodyError("if t < N { " + fill + "for i < 16 { " + use + "%s[0] = 1 } }"),
      "");
  // Parts of their own.
  EXPECT_EQ(BodyError("if t < N { " + fill + "invocation i < 16 { %s[i] = 3 " +
                      use + "} }"),
            "");
  ExpectNoProof("if t < N { " + fill + "invocation i < 16 { %s[i] = 3 " + use +
                "%y[t, 0] = f32(%s[0]) } }");
}

}  // namespace
}  // namespace ember::loops
