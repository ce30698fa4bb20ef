#include "jit/loops/verifier.h"

#include <string>
#include <string_view>
#include <utility>

#include "gtest/gtest.h"
#include "jit/loops/text.h"

namespace ember::loops {
namespace {

using tensor::Opcode;

std::string ErrorOf(const LoopNest& nest) {
  const Status status = Verify(nest);
  return status.ok() ? "" : std::string(status.message());
}

std::string ErrorOf(const std::string& text) {
  const StatusOr<LoopNest> nest = Parse(text);
  if (nest.ok()) return ErrorOf(*nest);
  ADD_FAILURE() << nest.status().message() << "\n" << text;
  return "not parsed";
}

// Some buffers, then the statements of one phase of 4 tasks t.
std::string WithBody(const std::string& body) {
  return R"(loops @t<N, M>(%x: input f32[N, 64], %k: input i32[N], %l: input i64[N],
                           %y: output f32[N, 64], %z: output i64[N, M], %w: output i32[N]) {
              call %c: f32[N]
              task %s: i64[16]
              register %r: f32[4, 32]
              register %h: i64[1]
              phase t < 4 {)" +
         body + "}}";
}

// The error without its context.
std::string WithoutContext(std::string error,
                           std::string_view context = "loops @t: phase 0: ") {
  if (error.starts_with(context)) error = error.substr(context.size());
  return error;
}
std::string BodyError(const std::string& body) {
  return WithoutContext(ErrorOf(WithBody(body)));
}

void ExpectNoProof(const std::string& body) {
  EXPECT_NE(BodyError(body).find("expected a proof"), std::string::npos)
      << body << "\n"
      << BodyError(body);
}

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

// --- bounds ---

TEST(VerifierTest, BoundsByRanges) {
  EXPECT_EQ(BodyError("%s[t * 4 + 3] = 0"), "");
  EXPECT_EQ(BodyError("%s[t * 4 + 4] = 0"),
            "store to %s: index 0: expected a proof of 0 <= t * 4 + 4 < 16, "
            "found none");
  EXPECT_EQ(BodyError("%s[t - 1] = 0"),
            "store to %s: index 0: expected a proof of 0 <= t - 1 < 16, found "
            "none");
  EXPECT_EQ(BodyError("for j < 4 { %s[t * 4 + j] = 0 }"), "");
  ExpectNoProof("for j < 5 { %s[t * 4 + j] = 0 }");
  EXPECT_EQ(BodyError("for i < N { %s[mod(i, 16)] = 0 }"), "");
  EXPECT_EQ(BodyError("for i < N { %s[min(i, 15)] = 0 }"), "");
  EXPECT_EQ(BodyError("for i < N { %s[max(min(%l[i], 15), 0)] = 0 }"), "");
  EXPECT_EQ(BodyError("for i < 64 { %s[floordiv(i, 4)] = 0 }"), "");
  ExpectNoProof("for i < 65 { %s[floordiv(i, 4)] = 0 }");
  EXPECT_EQ(BodyError("for i < N { for j < 64 { %y[i, j] = %x[i, 63 - j] } }"),
            "");
  ExpectNoProof("%y[0, 0] = 0");  // N may be 0
  EXPECT_EQ(BodyError("for i < N { %y[0, 0] = 0 }"), "");
  EXPECT_EQ(BodyError("for i < N { %y[i, 0] = %x[N - 1 - i, 0] }"), "");
  ExpectNoProof("for i < N { %y[i, 0] = %x[N - i, 0] }");
  ExpectNoProof("for i < M { %y[i, 0] = 0 }");
  ExpectNoProof("for i < N { %y[i, 0] = select(false, %x[i, 64], 0) }");
  EXPECT_EQ(BodyError("for i < N { %y[i, 0] = pad(%x[i - 5, 64], 0) }"), "");
  // Indices of a pad are expressions like others.
  ExpectNoProof("for i < N { %y[i, 0] = pad(%x[%l[i + 1], 0], 0) }");
}

TEST(VerifierTest, BoundsByConditions) {
  const std::string loops = "for i < floordiv(N + 15, 16) { vector l < 16 { ";
  const std::string y = "%y[i * 16 + l, 0] = 0 ";
  ExpectNoProof(loops + y + "}}");
  EXPECT_EQ(BodyError(loops + "if i * 16 + l < N { " + y + "}}}"), "");
  EXPECT_EQ(BodyError(loops + "if i * 16 + l <= N - 1 { " + y + "}}}"), "");
  EXPECT_EQ(BodyError(loops + "if not(N <= i * 16 + l) { " + y + "}}}"), "");
  EXPECT_EQ(BodyError(loops + "if and(0 < M, i * 16 + l < N) { " + y + "}}}"),
            "");
  EXPECT_EQ(
      BodyError(loops + "if not(or(M < 0, N <= i * 16 + l)) {" + y + "}}}"),
      "");
  EXPECT_EQ(BodyError(loops + "if i * 16 + l == N - 2 { " + y + "}}}"), "");
  // Not enough, or of another value.
  ExpectNoProof(loops + "if i * 16 + l <= N { " + y + "}}}");
  ExpectNoProof(loops + "if or(M < 0, i * 16 + l < N) { " + y + "}}}");
  ExpectNoProof(loops + "if not(i * 16 + l < N) { " + y + "}}}");
  ExpectNoProof(loops + "if i * 16 < N { " + y + "}}}");
  ExpectNoProof(loops + "if i * 16 + l < N { } " + y + "}}");
  // What follows from it.
  EXPECT_EQ(BodyError(loops + "if i * 16 + l < N { %y[i * 16, 0] = 0 }}}"), "");
  EXPECT_EQ(BodyError(loops + "if i * 16 + l < N - 3 {"
                              "%y[i * 16 + l + 3, 0] = 0 }}}"),
            "");
  EXPECT_EQ(BodyError(loops + "if i * 16 + l < N {"
                              "%y[floordiv(i * 16 + l, 3), 0] = 0 }}}"),
            "");
  EXPECT_EQ(BodyError(loops + "if and(2 <= l, i * 16 + l < N) {"
                              "%y[i * 16 + l - 2, 0] = 0 }}}"),
            "");
  EXPECT_EQ(
      BodyError("for i < 100 { if and(4 <= i, i < 20) { %s[i - 4] = 0 }}"), "");
  ExpectNoProof("for i < 100 { if and(3 <= i, i < 20) { %s[i - 4] = 0 }}");
  // Narrow types.
  EXPECT_EQ(BodyError("for i < N { if and(0 <= %k[i], %k[i] < 16) {"
                      "%s[i64(%k[i])] = 0 } }"),
            "");
  ExpectNoProof("for i < N { if %k[i] < 16 { %s[i64(%k[i])] = 0 } }");
  ExpectNoProof("for i < N { if %k[i] < 16 { %s[i64(u32(%k[i]))] = 0 } }");
}

TEST(VerifierTest, BoundsBySplitsOfSymbolicLoops) {
  // Splits without a guard: whole blocks only.
  EXPECT_EQ(BodyError("for i < floordiv(N, 16) { vector l < 16 {"
                      "%y[i * 16 + l, 0] = 0 } }"),
            "");
  ExpectNoProof(
      "for i < floordiv(N, 16) + 1 { vector l < 16 {"
      "%y[i * 16 + l, 0] = 0 } }");
  EXPECT_EQ(
      BodyError("for i < floordiv(N + 15, 16) {"
                "for l < min(16, N - i * 16) { %y[i * 16 + l, 0] = 0 } }"),
      "");
  // One loop over several dims.
  EXPECT_EQ(BodyError("for i < N * 64 {"
                      "%y[floordiv(i, 64), mod(i, 64)] = 0 }"),
            "");
  ExpectNoProof("for i < N * 64 + 1 { %y[floordiv(i, 64), mod(i, 64)] = 0 }");
  EXPECT_EQ(BodyError("for i < N * M { %z[floordiv(i, M), mod(i, M)] = 0 }"),
            "");
  EXPECT_EQ(BodyError("for i < M * N { %z[floordiv(i, M), mod(i, M)] = 0 }"),
            "");
  ExpectNoProof("for i < N * M { %z[floordiv(i, N), mod(i, M)] = 0 }");
  ExpectNoProof("for i < N * M { %z[mod(i, M), mod(i, M)] = 0 }");
  EXPECT_EQ(BodyError("for i < M { for j < N { %z[j, i] = 0 } }"), "");
  ExpectNoProof("for i < M { for j < N { %z[i, j] = 0 } }");
}

// Of products that may overflow nothing follows: N * M * 4 could be 4 for large
// numbers, but no buffer has such extents.
TEST(VerifierTest, ProductsThatMayOverflow) {
  const auto error = [](const std::string& buffer) {
    return ErrorOf("loops @t<N, M>(" + buffer +
                   R"(, %z: output i64[N], %w: output i64[M]) {
             phase i < N * M * 4 { %z[floordiv(i, M * 4)] = 0  %w[mod(floordiv(i, 4), M)] = 0 }
           })");
  };
  EXPECT_EQ(error("%x: input f32[N, M, 4]"), "");
  EXPECT_EQ(error("%x: input f32[M, 8, N]"), "");
  EXPECT_EQ(error("%x: input f32[N * M * 4]"), "");
  EXPECT_NE(error("%x: input f32[N, M]"), "");
  EXPECT_NE(error("%x: input f32[N + M, 4]"), "");
}

TEST(VerifierTest, IndicesThatMayWrapAreNotProved) {
  // x + 2^63 - 1 - N < N may hold because the left side wraps.
  ExpectNoProof(
      "for i < N { if %l[i] + 9223372036854775807 < N {"
      "%y[min(%l[i] + 9223372036854775807, N - 1), 0] = 0 } }");
  EXPECT_EQ(BodyError("for i < N { if and(0 <= %l[i] + 5, %l[i] + 5 < N) {"
                      "%y[%l[i] + 5, 0] = 0 } }"),
            "");
  // %l[i] + 5 was in bounds, but not so %l[i]: that may be -5.
  ExpectNoProof(
      "for i < N { if and(0 <= %l[i] + 5, %l[i] + 5 < N) {"
      "%y[%l[i], 0] = 0 } }");
  ExpectNoProof(
      "for i < N { if %l[i] * 4 < N { if 0 <= %l[i] * 4 {"
      "%y[%l[i], 0] = 0 } } }");
}

TEST(VerifierTest, SelectsAndExtremesByCases) {
  EXPECT_EQ(BodyError("for i < N { %y[select(M < 3, i, N - 1 - i), 0] = 0 }"),
            "");
  ExpectNoProof("for i < N { %y[select(M < 3, i, N - i), 0] = 0 }");
  EXPECT_EQ(BodyError("for i < N { %y[min(i + 1, N - 1), 0] = 0 }"), "");
  EXPECT_EQ(BodyError("for i < N { %y[max(i - 1, 0), 0] = 0 }"), "");
  EXPECT_EQ(BodyError("for i < N { %y[max(min(%l[i], N - 1), 0), 0] = 0 }"),
            "");
  ExpectNoProof("for i < N { %y[max(min(%l[i], N), 0), 0] = 0 }");
  // N may be 0 where no loop says otherwise.
  ExpectNoProof("%y[max(min(M, N - 1), 0), 0] = 0");
}

TEST(VerifierTest, BoundsByChecks) {
  const std::string use = "%y[i, 0] = %x[%l[i], 0] ";
  EXPECT_EQ(BodyError("for i < N { check %x.0 %l[i] < N " + use + "}"), "");
  // A hint proves nothing, and need not be in bounds.
  EXPECT_EQ(BodyError("for i < N { prefetch %x i * 1000 - 7 }"), "");
  EXPECT_NE(BodyError("vector l < 8 { prefetch %x l }")
                .find("expected no vector loop around it"),
            std::string::npos);
  ExpectNoProof("for i < N { prefetch %x %l[i] " + use + "}");
  ExpectNoProof("for i < N { check %x.0 %l[i] < N + 1 " + use + "}");
  ExpectNoProof("for i < N { check %x.0 %l[N - 1 - i] < N " + use + "}");
  ExpectNoProof("for i < N { if M < 4 { check %x.0 %l[i] < N } " + use + "}");
  EXPECT_EQ(BodyError("for i < N { check %x.0 %l[i] < N for j < 64 {"
                      "%y[i, j] = %x[%l[i], j] } }"),
            "");
}

TEST(VerifierTest, FactsAboutLoadsEndWithStores) {
  const std::string check = "for i < N { check %x.0 %l[i] < N ";
  const std::string use = "%y[i, 0] = %x[%l[i], 0] ";
  // %z and %w are no memory of %l: of another rank and type.
  EXPECT_EQ(
      BodyError("for i < N { %w[i] = 0 } " + check + "%w[i] = 0 " + use + "}"),
      "");
  // An output of type and rank of %l may be its memory.
  const auto error = [](const std::string& body) {
    return ErrorOf(
        "loops @t<N>(%x: input f32[N], %l: input i64[N], %y: output f32[N], "
        "%o: output i64[N]) { register %h: i64[1] call %c: i64[N] "
        "phase t < N { %c[t] = 0 } phase i < N {" +
        body + "}}");
  };
  EXPECT_EQ(error("check %x.0 %l[i] < N %y[i] = %x[%l[i]] %o[i] = 0"), "");
  EXPECT_NE(error("check %x.0 %l[i] < N %o[i] = 0 %y[i] = %x[%l[i]]"), "");
  EXPECT_NE(error("check %x.0 %l[i] < N for j < 2 { %y[i] = %x[%l[i]] "
                  "%o[i] = 0 }"),
            "");
  EXPECT_NE(error("check %x.0 %l[i] < N if i < 4 { %o[i] = 0 } "
                  "%y[i] = %x[%l[i]]"),
            "");
  // Held in a register it stays.
  EXPECT_EQ(error("%h[0] = %l[i] check %x.0 %h[0] < N for j < 2 {"
                  "%y[i] = %x[%h[0]] %o[i] = 0 }"),
            "");
  EXPECT_NE(error("%h[0] = %l[i] check %x.0 %h[0] < N %h[0] = 5 "
                  "%y[i] = %x[%h[0]]"),
            "");
  // What other tasks store to.
  EXPECT_EQ(error("check %x.0 %c[i] < N %y[i] = %x[%c[i]]"), "");
  EXPECT_NE(error("check %x.0 %c[i] < N %y[i] = %x[%c[i]] %c[i] = 7"), "");
}

// Where conditions exclude each other nothing runs.
TEST(VerifierTest, UnreachableStatementsNeedNoProof) {
  EXPECT_EQ(BodyError("if 1 < 0 { %s[99] = 0 }"), "");
  EXPECT_EQ(BodyError("if t < 2 { if 5 <= t + 1 { %s[99] = 0 } }"), "");
  ExpectNoProof("if t < 2 { if 2 <= t + 1 { %s[99] = 0 } }");
  ExpectNoProof("if 1 < 0 { } %s[99] = 0");
  // Not so after a store that may have changed what was compared.
  EXPECT_EQ(BodyError("%s[0] = t if %s[0] < 0 { if 0 < %s[0] {"
                      "%s[99] = 0 } }"),
            "");
  ExpectNoProof(
      "%s[0] = t if %s[0] < 0 { %s[0] = 1 if 0 < %s[0] {"
      "%s[99] = 0 } }");
}

TEST(VerifierTest, FactsEndWithTheirLoops) {
  ExpectNoProof("for i < 4 { if i < 2 { } } for i < 4 { %s[i + 14] = 0 }");
  EXPECT_EQ(BodyError("for i < 4 { if i < 2 { %s[i + 14] = 0 } }"), "");
  ExpectNoProof("for i < 2 { } for i < 4 { %s[i + 14] = 0 }");
}

// Of the noted ranges of the pool nothing is believed.
TEST(VerifierTest, NotedRangesAreNotBelieved) {
  StatusOr<LoopNest> nest = Parse(WithBody("for i < N { %s[i] = 0 }"));
  ASSERT_TRUE(nest.ok());
  const NodeId i = nest->phases[0].body[0].variable;
  nest->pool.Refine(i, {0, 0});
  EXPECT_NE(ErrorOf(*nest), "");
}

// 2^48 additions if each way to a shared node was walked.
TEST(VerifierTest, SharedSumsDoNotExplode) {
  std::string body = "let %a0 = t + t ";
  for (int i = 1; i < 100; ++i) {
    const std::string before = " %a" + std::to_string(i - 1);
    body += "let %a" + std::to_string(i) + " =" + before + " +" + before + " ";
  }
  ExpectNoProof(body + "%s[%a99] = 0");
}

}  // namespace
}  // namespace ember::loops
