// Tests that the functions which jit/math expands are computed as the evaluator
// does: nothing is fused or reassociated. //tests/nests:conformance_test tests
// every other arithmetic row.
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "jit/llvm/testing/run_nest.h"
#include "jit/loops/testing/arithmetic_cases.h"
#include "jit/math/expand.h"
#include "tensor/instructions.h"
#include "tensor/scalar.h"

namespace ember::jit::llvm_ir {
namespace {

using loops::BitPatterns;
using loops::IsForOthers;
using tensor::InfoOf;
using tensor::InstructionGroup;
using tensor::NodeId;
using tensor::Opcode;

constexpr DType kTypes[] = {
#define EMBER_ROW(name, ...) DType::k##name,
    EMBER_FOR_EACH_DTYPE(EMBER_ROW)
#undef EMBER_ROW
};

std::string Name(DType type) { return std::string(DTypeName(type)); }

void ExpectExpanded(Opcode opcode, DType type) {
  const bool is_binary = tensor::RegisterOperandCount(opcode) == 2;
  const std::vector<uint64_t>& values = BitPatterns(type);
  const size_t pairs = values.size() * (is_binary ? values.size() : 1);
  const std::string count = std::to_string((pairs + 15) / 16 * 16);
  const std::string element = Name(type) + "[" + count + "]";
  loops::LoopNest nest = ParseOrDie("loops @expanded(%a: input " + element +
                                    ", %b: input " + element + ", %y: output " +
                                    element + R"() {
        phase i < )" + count + R"( / 16 {
          vector l < 16 { %y[i * 16 + l] = %a[i * 16 + l] * %b[i * 16 + l] }
        }
      })");
  NodeId& value = nest.phases[0].body[0].body[0].stores[0].value;
  std::vector<NodeId> operands = nest.pool[value].operands;
  if (!is_binary) operands.pop_back();
  value = ExpandMath(nest.pool, opcode, type, operands);
  ExpectAsEvaluated(
      nest, {},
      [&](const loops::Buffer&, size_t number, int64_t element) -> uint64_t {
        const size_t i = static_cast<size_t>(element);
        const uint64_t bits =
            values[(number == 0 ? i : i / values.size()) % values.size()];
        return MayBeZero(type, bits) ? 0 : bits;
      });
}

TEST(ExpandedFunctionsTest, AllTypes) {
  for (int i = 0; i < tensor::kOpcodeCount; ++i) {
    const Opcode opcode = static_cast<Opcode>(i);
    for (DType type : kTypes) {
      if (InfoOf(opcode).group == InstructionGroup::kStructural) continue;
      if (!AcceptsType(InfoOf(opcode).kinds, type)) continue;
      if (!IsForOthers(opcode, type)) continue;
      if (!IsExpanded(opcode, type)) continue;
      SCOPED_TRACE(std::string(InfoOf(opcode).text) + " of " + Name(type));
      ExpectExpanded(opcode, type);
      if (::testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace ember::jit::llvm_ir
