#include "jit/c/phase_emitter.h"

#include "base/concat.h"
#include "jit/backend/decline_reasons.h"
#include "jit/c/expression_emitter.h"
#include "jit/c/source_builder.h"
#include "jit/c/store_emitter.h"
#include "jit/loops/walk.h"

namespace ember::jit::c {

using loops::Block;
using loops::LoopKind;
using loops::Statement;

namespace {

// Largest number of lines of a phase that compilers for small processors
// accept.
constexpr int64_t kMaxLines = 30000;

class PhaseEmitter {
 public:
  explicit PhaseEmitter(const loops::LoopNest& nest)
      : nest_(nest),
        expressions_(nest, c_, error_),
        stores_(nest, c_, expressions_) {}

  StatusOr<std::string> Run(const loops::Phase& phase, const std::string& name);

 private:
  void EmitBlock(const Block& block);
  void EmitStatement(const Statement& statement);
  void EmitFor(const Statement& statement);
  void EmitLoop(const Statement& statement);
  void EmitVector(const Statement& statement);
  void EmitIf(const Statement& statement);
  void EmitLanesIf(const Statement& statement);
  void EmitCheck(const Statement& check);

  const loops::LoopNest& nest_;
  Status error_;
  SourceBuilder c_;
  ExpressionEmitter expressions_;
  StoreEmitter stores_;
};

StatusOr<std::string> PhaseEmitter::Run(const loops::Phase& phase,
                                        const std::string& name) {
  expressions_.EnterFunction(name);
  // A phase may leave some of its function's arguments unused.
  c_.LineAt(0, Part::kBegin, "(void)parameters, (void)buffers, (void)failure;");
  expressions_.EnterLoop(phase.task, "begin", "end");
  EmitBlock(phase.body);
  expressions_.Leave();
  c_.Line("return 0;");
  expressions_.Leave();
  EMBER_RETURN_IF_ERROR(error_);
  return c_.Take();
}

void PhaseEmitter::EmitBlock(const Block& block) {
  for (const Statement& statement : block) {
    if (!error_.ok()) return;
    if (c_.lines() > kMaxLines) {
      error_ = Decline(DeclineReason::kTooLarge,
                       Concat({"more than ", kMaxLines, " lines"}));
      return;
    }
    expressions_.BeginStatement();
    EmitStatement(statement);
  }
}

void PhaseEmitter::EmitStatement(const Statement& statement) {
  switch (statement.kind) {
    case Statement::Kind::kFor:
      return EmitFor(statement);
    case Statement::Kind::kIf:
      return EmitIf(statement);
    case Statement::Kind::kStore:
      return stores_.Emit(statement.stores);
    case Statement::Kind::kCheck:
      return EmitCheck(statement);
    // C has no prefetches, and asynchronous stores are done at once, so nothing
    // is awaited. Invocations run one after another, loop by loop, and need no
    // barriers.
    case Statement::Kind::kPrefetch:
    case Statement::Kind::kAwait:
    case Statement::Kind::kBarrier:
      return;
  }
}

// --- loops

void PhaseEmitter::EmitFor(const Statement& statement) {
  switch (statement.loop) {
    case LoopKind::kVector:
      return EmitVector(statement);
    // Loops that are unrolled, of dot products or of invocations are emitted as
    // ordinary loops: C compilers decide best what to unroll. If the code asks
    // them to unroll all of a register tile, they do so before they look for
    // vectors.
    case LoopKind::kUnrolled:
    case LoopKind::kDot:
    case LoopKind::kSerial:
    case LoopKind::kInvocation:
    case LoopKind::kSubgroup:
    case LoopKind::kMatrix:
      return EmitLoop(statement);
  }
}

void PhaseEmitter::EmitLoop(const Statement& statement) {
  const std::string end =
      expressions_.Emit(loops::ExtentOf(nest_.pool, statement.variable));
  expressions_.EnterLoop(statement.variable, "0", end);
  EmitBlock(statement.body);
  expressions_.Leave();
}

void PhaseEmitter::EmitVector(const Statement& statement) {
  const int64_t extent = *nest_.pool.IntegerConstant(
      loops::ExtentOf(nest_.pool, statement.variable));
  expressions_.lanes() = {
      .variable = statement.variable, .extent = extent, .mask = {}};
  EmitBlock(statement.body);
  expressions_.lanes().reset();
}

// --- conditions

void PhaseEmitter::EmitIf(const Statement& statement) {
  if (expressions_.VariesByLane(statement.condition))
    return EmitLanesIf(statement);
  expressions_.EnterBranch(expressions_.Emit(statement.condition));
  EmitBlock(statement.body);
  expressions_.Leave();
}

// Emits the body in a branch that runs if some lane is active. So the body may
// load values that all lanes share.
void PhaseEmitter::EmitLanesIf(const Statement& statement) {
  const Lanes around = *expressions_.lanes();
  const std::string mask = c_.NewName();
  const std::string is_any_on = c_.NewName();
  c_.Line(Concat({"uint8_t ", mask, "[", around.extent, "] = {0};"}));
  c_.Line(Concat({"uint8_t ", is_any_on, " = 0;"}));
  expressions_.ForEachLane([&] {
    const std::string is_on = Concat({mask, "[", expressions_.Lane(), "]"});
    c_.Line(
        Concat({is_on, " = ", expressions_.Emit(statement.condition), ";"}));
    c_.Line(Concat({is_any_on, " |= ", is_on, ";"}));
  });
  expressions_.lanes()->mask = mask;
  expressions_.EnterBranch(is_any_on);
  EmitBlock(statement.body);
  expressions_.Leave();
  expressions_.lanes() = around;
}

void PhaseEmitter::EmitCheck(const Statement& check) {
  const auto emit = [&] {
    const std::string index = expressions_.Emit(check.index);
    const std::string extent = expressions_.Emit(check.extent);
    c_.Line(Concat({"if (", index, " < 0 || ", index, " >= ", extent, ")"}));
    c_.Line(Concat({"  return ember_failed(failure, ", check.buffer, ", ",
                    check.dim, ", ", index, ", ", extent, ");"}));
  };
  expressions_.lanes() ? expressions_.ForEachLane(emit) : emit();
}

}  // namespace

StatusOr<std::string> EmitPhase(const loops::LoopNest& nest,
                                const loops::Phase& phase,
                                const std::string& name) {
  return PhaseEmitter(nest).Run(phase, name);
}

}  // namespace ember::jit::c
