// Facts about functions that jit/c has printed, which a program needs to call
// them with little memory.
//
//   const std::vector<std::string> texts = SplitFunctions(source.functions);
//   const FunctionFacts facts = FactsOf(texts[0]);
//   facts.buffers;        // {0, 2}: the function reads buffers[0], buffers[2]
//
// The text is what a C compiler gets, so the facts are those of the code. They
// hold for texts of jit/c only. Thread-safe.
#ifndef EMBER_TOOLS_LIB_C_PROGRAM_FUNCTION_FACTS_H_
#define EMBER_TOOLS_LIB_C_PROGRAM_FUNCTION_FACTS_H_

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ember::tools {

struct FunctionFacts {
  // The numbers of the buffers whose pointers the function loads.
  std::set<uint32_t> buffers;
  // True if the function checks an index and may return 1.
  bool can_fail = false;
  // The bytes of all arrays that the function declares. A compiler may need
  // less, because not all of them are in use at the same time.
  int64_t array_bytes = 0;
};

// Splits a text of functions (jit/c/source.h) into one text for each function,
// in order.
std::vector<std::string> SplitFunctions(std::string_view functions);

FunctionFacts FactsOf(std::string_view function);

}  // namespace ember::tools

#endif  // EMBER_TOOLS_LIB_C_PROGRAM_FUNCTION_FACTS_H_
