// Prints loop nests as text, and parses the text back to an equal nest.
// jit/loops/GRAMMAR.md defines the text form.
//
//   std::string text = loops::ToText(nest);
//   EMBER_ASSIGN_OR_RETURN(LoopNest again, loops::Parse(text));
//   // ToText(again) == text
//
// Thread-safe.
#ifndef EMBER_JIT_LOOPS_TEXT_TEXT_H_
#define EMBER_JIT_LOOPS_TEXT_TEXT_H_

#include <string>
#include <string_view>

#include "base/status.h"
#include "jit/loops/loop_nest.h"

namespace ember::loops {

std::string ToText(const LoopNest& nest);

// Returns the text of one expression, for messages. Large subexpressions that
// occur more than once are replaced by names such as %t0.
std::string ToText(const LoopNest& nest, NodeId expression);

// Returns the keyword of a scope, for example "task".
std::string_view ToText(MemoryScope scope);

// Parses a nest, which is not verified. Errors name the line and column.
StatusOr<LoopNest> Parse(std::string_view text);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_TEXT_TEXT_H_
