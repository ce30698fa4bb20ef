// Checks that the operands of library calls in operators' records match the
// functions' rows in vm/isa/library_functions.h.
#include "compiler/lowering/library_operands.h"

#include <set>
#include <string_view>

#include "gtest/gtest.h"

namespace ember::compiler {
namespace {

TEST(LibraryOperands, FitTheFunctionsRows) {
  std::set<std::string_view> called;
  for (const graph::OperatorRecord& record : graph::OperatorTable()) {
    if (record.form != graph::ProgramForm::kCall) continue;
    SCOPED_TRACE(record.name);
    const auto function =
        static_cast<uint32_t>(FunctionNamed(record.call.function));
    EXPECT_EQ(LettersOf(record), vm::LibraryInfoOf(function).operands);
    EXPECT_TRUE(called.insert(record.call.function).second)
        << "called by another operator, too";
  }
  // Every function must be called by an operator: a function that is never
  // called would only enlarge every runtime.
  EXPECT_EQ(called.size(), vm::kLibraryFunctionCount);
}

}  // namespace
}  // namespace ember::compiler
