// Tests errors of nests that cannot be written as text, because the parser
// refuses them. tests/cases/verifier tests the other errors.
#include "jit/loops/verifier/verifier.h"

#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "jit/loops/testing/verifier.h"
#include "jit/loops/text/text.h"

namespace ember::loops {
namespace {

using tensor::Opcode;

// --- Errors in the names and buffers of a nest. ---

TEST(VerifierTest, Signature) {
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
  nest.buffers = {{"", DType::kF32, MemoryScope::kInput, {}}};
  EXPECT_EQ(ErrorOf(nest), "loops @t: expected a name for a buffer, found ''");
  nest.buffers = {{"a", DType::kF32, MemoryScope::kInput, {}},
                  {"a", DType::kF32, MemoryScope::kInput, {}}};
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
  nest.extents = std::exchange(nest.buffers[0].extents, {});
  EXPECT_EQ(ErrorOf(nest),
            "loops @t: extents: expected extents of constants and parameters, "
            "found axis");
  nest.extents = {nest.pool.Constant(4, DType::kI32)};
  EXPECT_EQ(ErrorOf(nest),
            "loops @t: extents: expected extents of type i64, found i32");
}

// --- Errors in loops, and in the order of stores. ---

TEST(VerifierTest, Variables) {
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
  for (int i = 0; i < kMaxNesting + 1; ++i) {
    block = &(*block)[0].body;
    Statement inner;
    inner.kind = Statement::Kind::kIf;
    inner.condition = nest->phases[0].body[0].condition;
    block->push_back(inner);
  }
  EXPECT_EQ(ErrorOf(*nest),
            "loops @t: phase 0: expected at most 200 statements in each other");
}

// --- Type errors in nodes that the parser never makes. ---

class TypesTest : public testing::Test {
 protected:
  TypesTest() : nest_(std::move(*Parse(WithBody("%s[0] = 1 if true { }")))) {}

  Store& store() { return nest_.phases[0].body[0].stores[0]; }
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
  body[0].stores.clear();
  EXPECT_EQ(ErrorOf(nest_),
            "loops @t: phase 0: expected at least one value to store, found "
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

// --- registers ---

// --- invocations ---

// Shows that the verifier does not trust the ranges that the expression pool
// has noted for its nodes.
TEST(VerifierTest, NotedRangesAreNotBelieved) {
  StatusOr<LoopNest> nest = Parse(WithBody("for i < N { %s[i] = 0 }"));
  ASSERT_TRUE(nest.ok());
  const NodeId i = nest->phases[0].body[0].variable;
  nest->pool.Refine(i, {0, 0});
  EXPECT_NE(ErrorOf(*nest), "");
}

}  // namespace
}  // namespace ember::loops
