// PyTorch's rules for the type of a result: tensors with dims decide, then
// tensors without, then numbers, each only if its category (boolean, integer,
// float) is higher than what those before it decided.
//
//   const DType type = ResultType(c, {"self", "other"});
//   return c.scalar("self", type) + c.scalar("other", type);
//
// Source: "torch.promote_types" and "Type promotion" of PyTorch's
// documentation (tensor attributes).
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_PROMOTION_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_PROMOTION_H_

#include <initializer_list>
#include <string_view>
#include <vector>

#include "frontends/torchscript/call.h"

namespace ember::torchscript {

// Of two tensors with dims.
DType PromoteTypes(DType a, DType b);
// Of parameters that are tensors or numbers; those that are None do not count.
DType ResultType(Call& c, std::initializer_list<std::string_view> names);
// The same with integers and booleans as floats.
DType FloatResultType(Call& c, std::initializer_list<std::string_view> names);
// Tensors in one type, as torch.cat has them.
std::vector<Tensor> InOneType(Call& c, std::vector<Tensor> tensors);
// x as a float: integers and booleans become f32.
Tensor AsFloat(const Tensor& x);

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_PROMOTION_H_
