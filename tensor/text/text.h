// The text form of a dispatch; tensor/GRAMMAR.md is its grammar.
//
//   std::string text = Print(dispatch);
//   // *same == dispatch, if that was canonical.
//   StatusOr<Dispatch> same = Parse(text);
//
// A dispatch is canonical if DispatchBuilder::Finish or Parse made it. If any
// verified dispatch is printed and parsed, the result is its canonical form,
// which computes the same.
//
// Parse errors are one line, "line:column: expected ..., found ...". Parse
// accepts untrusted text, and the dispatch that it returns is verified; Print
// requires a verified dispatch.
#ifndef EMBER_TENSOR_TEXT_TEXT_H_
#define EMBER_TENSOR_TEXT_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "tensor/dispatch.h"

namespace ember::tensor {

std::string Print(const Dispatch& dispatch);
StatusOr<Dispatch> Parse(std::string_view text);

// Parses a text of several dispatches, one after another.
StatusOr<std::vector<Dispatch>> ParseAll(std::string_view text);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_TEXT_TEXT_H_
