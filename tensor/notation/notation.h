// Index notation: a short text for the tensor expressions of a dispatch.
//
//   a: f32[64, K]  b: f32[K, 32]
//   y[i, j] = sum(k) a[i, k] * b[k, j]
//
// is the dispatch
//
//   dispatch @y<K>(%a: f32[64, K], %b: f32[K, 32]) -> (%y: f32[64, 32]) {
//     %y[i, j] = sum(k < K) %a[i, k] * %b[k, j]
//   }
//
// README.md is the grammar. The extents of axes are inferred from the dims that
// they index. Sums and other reductions may be parts of an expression: each of
// them that is not the whole right side becomes a stage with a temporary.
//
//   StatusOr<Dispatch> dispatch = ParseNotation(
//       "y[i, j] = sum(k) a[i, k] * b[k, j]",
//       {{"a", DType::kF32, {{64}, {512}}}, {"b", DType::kF32, {{512}, {32}}}},
//       "");
//
// Errors are one line, "line:column: expected ..., found ...". The text may be
// untrusted; the returned dispatch is verified. Thread-safe.
//
// Source of the idea: Vasilache et al., "Tensor Comprehensions:
// Framework-Agnostic High-Performance Machine Learning Abstractions", 2018.
#ifndef EMBER_TENSOR_NOTATION_NOTATION_H_
#define EMBER_TENSOR_NOTATION_NOTATION_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"
#include "tensor/dispatch.h"

namespace ember::tensor {

// A dim of an input: a number, or a parameter of the dispatch if `name` is not
// empty. Equal names are equal extents.
struct NotationDim {
  int64_t extent = 0;
  std::string name;
};

// An input of the dispatch that the text does not declare.
struct NotationInput {
  std::string name;
  DType type = DType::kF32;
  std::vector<NotationDim> dims;
};

// Parses the text. inputs: inputs in addition to those that the text declares.
// name: name of the dispatch; if it is empty, the dispatch is named after its
// first result. Errors: kInvalidArgument.
StatusOr<Dispatch> ParseNotation(std::string_view text,
                                 std::span<const NotationInput> inputs,
                                 std::string_view name);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_NOTATION_NOTATION_H_
