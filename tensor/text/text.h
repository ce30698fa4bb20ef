// The text form of a dispatch; tensor/GRAMMAR.md is its grammar.
//
//   std::string text = Print(dispatch);
//   // *same == dispatch, if that was canonical.
//   StatusOr<Dispatch> same = Parse(text);
//
// A canonical dispatch was made by DispatchBuilder::Finish or by Parse. Any
// verified dispatch prints and parses back to its canonical form, which
// computes the same.
//
// Parse errors are one line, "line:column: expected ..., found ...". The result
// is verified. Parse takes untrusted text; Print requires a verified dispatch.
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
