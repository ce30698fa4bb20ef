// The operands of the primitives as data: what a program that writes steps
// needs to know, such as a binding to another language.
//
//   for (const StepOperands& row : OperandsOfPrimitives())
//     row.operands;   // of split: {"stage", kStage}, {"loop", kLoop},
//                     // {"factor", kNumber}; row.results: "outer", "inner"
//
// The kinds come from the types of the steps' members, and the names from the
// usage in the table of jit/schedule/core/steps.h. A step with a member of a
// new type does not compile until the type has a kind here. Thread-safe.
#ifndef EMBER_JIT_SCHEDULE_CORE_OPERANDS_H_
#define EMBER_JIT_SCHEDULE_CORE_OPERANDS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ember::schedule {

// Rows: (enumerator, name, form of the operand in the text of a step).
#define EMBER_FOR_EACH_OPERAND_KIND(row)                                    \
  row(Stage, "stage", "%y")                                                 \
      row(Loop, "loop", "the name of a loop of the stage before it")        \
          row(Buffer, "buffer", "%x") row(Number, "number",                 \
                                          "a number of 1 or more")          \
              row(Type, "type", "an element type, such as f32") row(        \
                  Dim, "dim", "the number of a dim of the buffer")          \
                  row(Range, "range", "two integers, such as -64..64") row( \
                      LayoutDim, "layout",                                  \
                      "a dim or a digit of one: 1, 1/32, 1%32")             \
                      row(Digit, "digit",                                   \
                          "a digit of a reduction: k, k/4, k%8, k/4%8")     \
                          row(Pieces, "pieces",                             \
                              "a loop and the length of its pieces: k/8")   \
                              row(LoadAhead, "load ahead",                  \
                                  "registers, or async SLOTS late spare")   \
                                  row(HiddenBlocks, "hidden blocks", "skip")

enum class OperandKind : uint8_t {
#define EMBER_ROW(name, ...) k##name,
  EMBER_FOR_EACH_OPERAND_KIND(EMBER_ROW)
#undef EMBER_ROW
};
// Returns the name of the kind in the table above.
std::string_view NameOf(OperandKind kind);

// An operand of a primitive. Operands are in the order of the words of a step's
// line, where the stage of a step's loops is an operand of its own.
struct StepOperand {
  std::string name;
  OperandKind kind = OperandKind::kStage;
  bool is_optional = false;
  bool is_repeated = false;
};

struct StepOperands {
  std::vector<StepOperand> operands;
  std::vector<std::string> results;  // names behind "->"
};

// Returns the operands and results of each primitive, in the order of
// Primitives().
std::vector<StepOperands> OperandsOfPrimitives();

}  // namespace ember::schedule

#endif  // EMBER_JIT_SCHEDULE_CORE_OPERANDS_H_
