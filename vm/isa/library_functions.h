// The library functions that a program can call: the few computations that are
// not tensor expressions. The verifier, the text form and the functions
// themselves (vm/runtime/library/library.h) expand these rows. Keep the list
// short.
//
// Operand letters, in order: i read integer, b read memory, w memory of the
// program that the function writes, I written integer, B memory that the
// function allocates and returns. A type is passed as an integer, the number of
// the DType. The function checks the lengths of all memory.
#ifndef EMBER_VM_ISA_LIBRARY_FUNCTIONS_H_
#define EMBER_VM_ISA_LIBRARY_FUNCTIONS_H_

#include <cstdint>
#include <string_view>

#include "base/short_text.h"

namespace ember::vm {

// Columns: (name, kind, text, operands, doc). Kinds: Core; String for functions
// on strings (as i64 handles), which only a session with
// SessionOptions::strings supports; Image for functions that decode pictures,
// which need SessionOptions::images. Modules refer to a function by its
// position, so new rows are added at the end.
// clang-format off
#define EMBER_FOR_EACH_LIBRARY_FUNCTION(row) \
  row(TopK, Core, "top_k", "iiiiiibww", \
      "type, outer, n, inner, k, largest; x[outer, n, inner] -> values[outer, k, inner], indices " \
      "i64[outer, k, inner]: the k largest (or smallest) along n, best first, ties by lower index; " \
      "NaN counts as the largest") \
  row(NonZero, Core, "non_zero", "iibBI", \
      "type, count; x[count] -> memory of i64 flat positions of the elements that are not zero, " \
      "ascending, and how many") \
  row(Unique, Core, "unique", "iiiibBBBBI", \
      "type, count, width, sorted; rows x[count, width] -> different rows, i64 first positions, i64 number " \
      "of each row's value, i64 counts, and how many values; in order of value (first element first), or " \
      "of first appearance if not sorted") \
  row(NonMaxSuppression, Core, "non_max_suppression", "iiiiibbbBI", \
      "batches, classes, boxes, most per class, centered (0 corners, 1 center and size); boxes " \
      "f32[batches, boxes, 4], scores f32[batches, classes, boxes], thresholds f32[2] (overlap, score) " \
      "-> i64[count, 3] (batch, class, box) by falling score, and the count") \
  row(StringConcat, String, "string_concat", "ibbw", "count; a[count], b[count] -> each a followed by its b") \
  row(StringLower, String, "string_lower", "ibw", "count; x[count] -> each in lower case") \
  row(StringUpper, String, "string_upper", "ibw", "count; x[count] -> each in upper case") \
  row(StringSplit, String, "string_split", "iiibBwI", \
      "count, delimiter (a handle; that of the empty string, or -1: white space), most splits (-1: all); " \
      "x[count] -> parts[count, most parts], filled up with the empty string, i64 counts[count], and the " \
      "most parts") \
  row(StringToNumber, String, "string_to_number", "iibw", "type, count; x[count] -> the numbers, of the type") \
  row(NumberToString, String, "number_to_string", "iibw", "type, count; x[count], of the type -> their decimal texts") \
  row(RegexFullMatch, String, "regex_full_match", "iibw", \
      "count, pattern (a handle, RE2's syntax); x[count] -> bool[count], whether all of it matches") \
  row(StringRank, String, "string_rank", "ibw", \
      "count; x[count] -> i64 place of each among the different strings of x, in the order of their bytes") \
  row(DecodeImage, Image, "decode_image", "iibBII", \
      "order of channels (0 RGB, 1 BGR, 2 grey), count; file u8[count] -> pixels u8[height, width, channels], " \
      "height, and width; both are 0 if the bytes cannot be decoded")
// clang-format on

enum class LibraryFunction : uint32_t {
#define EMBER_ROW(name, ...) k##name,
  EMBER_FOR_EACH_LIBRARY_FUNCTION(EMBER_ROW)
#undef EMBER_ROW
};

struct LibraryFunctionInfo {
  std::string_view text;
  std::string_view operands;
};

// A row of the table. LibraryFunctionInfo has the same texts, which are stored
// here without pointers.
struct LibraryFunctionRow {
  ShortText<19> text;
  ShortText<11> operands;
};

inline constexpr LibraryFunctionRow kLibraryFunctionTable[] = {
#define EMBER_ROW(name, kind, text, operands, doc) {text, operands},
    EMBER_FOR_EACH_LIBRARY_FUNCTION(EMBER_ROW)
#undef EMBER_ROW
};

inline constexpr uint32_t kLibraryFunctionCount =
    sizeof(kLibraryFunctionTable) / sizeof(kLibraryFunctionTable[0]);

// Returns the row of the function with this number, which is
// ProgramInstruction::a of a library call.
constexpr LibraryFunctionInfo LibraryInfoOf(uint32_t function) {
  const LibraryFunctionRow& row = kLibraryFunctionTable[function];
  return {row.text, row.operands};
}

}  // namespace ember::vm

#endif  // EMBER_VM_ISA_LIBRARY_FUNCTIONS_H_
