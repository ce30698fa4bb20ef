#include "jit/c_like/phase_printer.h"

#include <utility>

#include "base/concat.h"
#include "jit/backend/decline_reasons.h"
#include "jit/c_like/expression_printer.h"
#include "jit/c_like/form.h"
#include "jit/c_like/kernel_function.h"
#include "jit/c_like/literals.h"
#include "jit/c_like/source_builder.h"
#include "jit/c_like/store_printer.h"
#include "jit/loops/walk.h"

namespace ember::jit::c_like {

using loops::Block;
using loops::LoopKind;
using loops::Statement;

namespace {

class PhasePrinter {
 public:
  PhasePrinter(const Language& language, const loops::LoopNest& nest,
               const loops::Phase& phase)
      : language_(language),
        nest_(nest),
        phase_(phase),
        c_(language),
        expressions_(language, nest, phase, c_, error_),
        stores_(nest, c_, expressions_) {}

  StatusOr<std::string> Run(const std::string& name);

 private:
  void EnterFunction(const std::string& name);
  void MoveToSlices();
  // Prints the statements of the block, beginning with statement number
  // `begin`.
  void PrintBlock(const Block& block, size_t begin = 0);
  Status CheckStatement(const Statement& statement) const;
  void PrintStatement(const Statement& statement);
  void PrintFor(const Statement& statement);
  void PrintLoop(const Statement& statement);
  void PrintInvocations(const Statement& statement);
  void PrintVector(const Statement& statement);
  void PrintFirst(const Statement& first);
  void PrintIf(const Statement& statement);
  void PrintLanesIf(const Statement& statement);
  void PrintCheck(const Statement& check);
  // Prints check number `number` of a kernel's block, which records a failure,
  // and then the rest of the block in a branch that runs only if the check
  // holds.
  void PrintRecordedCheck(const Block& block, size_t number);
  // Prints the comparison of a check, in all lanes of a vector loop.
  // print_failure(line) prints the statement that runs if the comparison fails.
  template <typename PrintFailure>
  void PrintTest(const Statement& check, PrintFailure&& print_failure);

  const Language& language_;
  const loops::LoopNest& nest_;
  const loops::Phase& phase_;
  Status error_;
  SourceBuilder c_;
  ExpressionPrinter expressions_;
  StorePrinter stores_;
};

StatusOr<std::string> PhasePrinter::Run(const std::string& name) {
  EnterFunction(name);
  expressions_.EnterScope(language_.task, phase_.task);
  MoveToSlices();
  PrintBlock(phase_.body);
  expressions_.Leave();
  if (!language_.last_line.empty()) c_.Line(language_.last_line);
  expressions_.Leave();
  EMBER_RETURN_IF_ERROR(error_);
  return c_.Take();
}

void PhasePrinter::EnterFunction(const std::string& name) {
  if (!language_.HasInvocations()) {
    expressions_.EnterFunction(language_.heading(nest_, phase_, name));
    if (!language_.first_line.empty())
      c_.LineAt(0, Part::kBegin, language_.first_line);
    return;
  }
  expressions_.EnterFunction(KernelHeading(language_, nest_, phase_, name));
  for (const std::string& line : KernelFirstLines(language_, nest_, phase_))
    c_.LineAt(0, Part::kBegin, line);
}

void PhasePrinter::MoveToSlices() {
  for (uint32_t i = 0; i < phase_.workgroup.storage.size(); ++i) {
    if (phase_.workgroup.storage[i].kind != loops::StorageKind::kSlices)
      continue;
    const std::string name = expressions_.Buffer(i);
    const std::string elements = expressions_.ElementsOf(i);
    c_.LineAt(
        c_.depth(), Part::kBegin,
        Fill(language_.kernel.slice, {{"name", name}, {"elements", elements}}));
  }
}

void PhasePrinter::PrintBlock(const Block& block, size_t begin) {
  for (size_t i = begin; i < block.size(); ++i) {
    if (error_.ok()) error_ = CheckStatement(block[i]);
    if (!error_.ok()) return;
    expressions_.BeginStatement();
    if (block[i].kind == Statement::Kind::kCheck && language_.HasInvocations())
      return PrintRecordedCheck(block, i);
    PrintStatement(block[i]);
  }
}

Status PhasePrinter::CheckStatement(const Statement& statement) const {
  if (c_.lines() > language_.max_lines) {
    return Decline(DeclineReason::kTooLarge,
                   Concat({"more than ", language_.max_lines, " lines"}));
  }
  return language_.refuse == nullptr ? OkStatus()
                                     : language_.refuse(nest_, statement);
}

void PhasePrinter::PrintStatement(const Statement& statement) {
  switch (statement.kind) {
    case Statement::Kind::kFor:
      return PrintFor(statement);
    case Statement::Kind::kIf:
      return PrintIf(statement);
    case Statement::Kind::kStore:
      return stores_.Print(statement.stores);
    case Statement::Kind::kFirst:
      return PrintFirst(statement);
    case Statement::Kind::kCheck:
      return PrintCheck(statement);
    case Statement::Kind::kBarrier:
      if (!language_.barrier.empty()) c_.Line(language_.barrier);
      return;
    // Prefetches are left out. Stores marked as asynchronous are performed at
    // once, so awaits print nothing.
    case Statement::Kind::kPrefetch:
    case Statement::Kind::kAwait:
    case Statement::Kind::kSlot:
      return;
  }
}

// --- loops

void PhasePrinter::PrintFor(const Statement& statement) {
  switch (statement.loop) {
    case LoopKind::kVector:
      return PrintVector(statement);
    case LoopKind::kInvocation:
      return language_.HasInvocations() ? PrintInvocations(statement)
                                        : PrintLoop(statement);
    // Unrolled loops and dot loops are printed as ordinary loops, because
    // compilers decide best what to unroll. If the code asked a C compiler to
    // unroll a register tile, it would do so before it looks for vectors.
    case LoopKind::kUnrolled:
    case LoopKind::kDot:
    case LoopKind::kSerial:
    case LoopKind::kSubgroup:
    case LoopKind::kMatrix:
      return PrintLoop(statement);
  }
}

void PhasePrinter::PrintLoop(const Statement& statement) {
  expressions_.EnterLoop(statement.variable);
  PrintBlock(statement.body);
  if (language_.loops_end_with_barrier && HasBarrier(statement.body) &&
      statement.body.back().kind != Statement::Kind::kBarrier)
    c_.Line(language_.barrier);
  expressions_.Leave();
}

void PhasePrinter::PrintInvocations(const Statement& statement) {
  expressions_.EnterScope(language_.invocation, statement.variable);
  PrintBlock(statement.body);
  expressions_.Leave();
}

void PhasePrinter::PrintVector(const Statement& statement) {
  const int64_t extent = *nest_.pool.IntegerConstant(
      loops::ExtentOf(nest_.pool, statement.variable));
  expressions_.lanes() = {
      .variable = statement.variable, .extent = extent, .mask = {}};
  PrintBlock(statement.body);
  expressions_.lanes().reset();
}

// --- conditions

void PhasePrinter::PrintFirst(const Statement& first) {
  if (!language_.HasInvocations()) return PrintBlock(first.body);
  expressions_.EnterBranch(std::string(language_.first_invocation));
  PrintBlock(first.body);
  expressions_.Leave();
}

void PhasePrinter::PrintIf(const Statement& statement) {
  if (expressions_.VariesByLane(statement.condition))
    return PrintLanesIf(statement);
  expressions_.EnterBranch(expressions_.Print(statement.condition));
  PrintBlock(statement.body);
  expressions_.Leave();
}

// Prints an `if` whose condition differs between lanes. The body is in a branch
// that runs only if some lane is active, so it may load values that all lanes
// share.
void PhasePrinter::PrintLanesIf(const Statement& statement) {
  const Lanes around = *expressions_.lanes();
  const std::string mask = c_.NewName();
  const std::string is_any_on = c_.NewName();
  const std::string_view type = language_.types.boolean;
  c_.Line(Fill(language_.declarations.zeros,
               {{"type", type},
                {"name", mask},
                {"count", std::to_string(around.extent)}}));
  c_.Line(Fill(language_.declarations.variable,
               {{"type", type},
                {"name", is_any_on},
                {"value", LiteralOf(language_, DType::kBool, 0)}}));
  expressions_.ForEachLane([&] {
    const std::string is_on = Concat({mask, "[", expressions_.Lane(), "]"});
    c_.Line(
        Concat({is_on, " = ", expressions_.Print(statement.condition), ";"}));
    c_.Line(Concat({is_any_on, " |= ", is_on, ";"}));
  });
  expressions_.lanes()->mask = mask;
  expressions_.EnterBranch(is_any_on);
  PrintBlock(statement.body);
  expressions_.Leave();
  expressions_.lanes() = around;
}

template <typename PrintFailure>
void PhasePrinter::PrintTest(const Statement& check,
                             PrintFailure&& print_failure) {
  const auto print = [&] {
    const std::string index = expressions_.Print(check.index);
    const std::string extent = expressions_.Print(check.extent);
    c_.Line(Concat({"if (", index, " < 0 || ", index, " >= ", extent, ")"}));
    print_failure(
        Fill(language_.failure, {{"buffer", std::to_string(check.buffer)},
                                 {"dim", std::to_string(check.dim)},
                                 {"index", index},
                                 {"extent", extent}}));
  };
  expressions_.lanes() ? expressions_.ForEachLane(print) : print();
}

void PhasePrinter::PrintCheck(const Statement& check) {
  PrintTest(check, [&](const std::string& line) { c_.Line("  " + line); });
}

void PhasePrinter::PrintRecordedCheck(const Block& block, size_t number) {
  const std::string holds = c_.NewName();
  c_.Line(Fill(language_.declarations.variable,
               {{"type", language_.types.boolean},
                {"name", holds},
                {"value", LiteralOf(language_, DType::kBool, 1)}}));
  PrintTest(block[number], [&](const std::string& line) {
    c_.Line(Concat({"{ ", holds, " = ", LiteralOf(language_, DType::kBool, 0),
                    "; ", line, " }"}));
  });
  expressions_.EnterBranch(holds);
  PrintBlock(block, number + 1);
  expressions_.Leave();
}

}  // namespace

StatusOr<std::string> PrintPhase(const Language& language,
                                 const loops::LoopNest& nest,
                                 const loops::Phase& phase,
                                 const std::string& name) {
  return PhasePrinter(language, nest, phase).Run(name);
}

}  // namespace ember::jit::c_like
