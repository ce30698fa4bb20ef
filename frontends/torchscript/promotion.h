// PyTorch's rules for the type of a result. Tensors with dims decide first,
// then tensors without dims, then numbers. An operand of a later kind counts
// only if its category (boolean, integer, float) is higher than that of the
// type decided before.
//
//   const DType type = ResultType(c, {"self", "other"});
//   return c.scalar("self", type) + c.scalar("other", type);
//
// Source: "torch.promote_types" and "Type promotion" of PyTorch's documentation
// (tensor attributes).
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_PROMOTION_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_PROMOTION_H_

#include <initializer_list>
#include <string_view>
#include <vector>

#include "frontends/torchscript/call.h"

namespace ember::torchscript {

// Returns the result type of two tensors with dims.
DType PromoteTypes(DType a, DType b);
// Returns the result type of parameters that are tensors or numbers; None is
// ignored.
DType ResultType(Call& c, std::initializer_list<std::string_view> names);
// Like ResultType, but an integer or boolean type becomes PyTorch's default
// float type, f32.
DType FloatResultType(Call& c, std::initializer_list<std::string_view> names);
// Casts tensors to one type, by the rules of torch.cat.
std::vector<Tensor> InOneType(Call& c, std::vector<Tensor> tensors);
// Returns x as a float: integers and booleans become f32.
Tensor AsFloat(const Tensor& x);

// Returns the elementwise product of two tensors of one type; for booleans it
// is the logical and.
Tensor Times(const Tensor& a, const Tensor& b);

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_PROMOTION_H_
