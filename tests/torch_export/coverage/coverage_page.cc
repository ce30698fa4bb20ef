// Makes the text of docs/coverage/torch-export.md from the tables of operators.
#include "tests/coverage/coverage_page.h"

#include <sstream>

#include "frontends/torch_export/targets.h"
#include "frontends/torchscript/operator_caller.h"

namespace ember::tests {
namespace {

constexpr std::string_view kIntroduction =
    R"(# torch.export coverage

Written by `./dev coverage-page` from the rows of `frontends/torchscript/operator_table.h` and `frontends/torch_export/targets.h`; do not edit.
Every operator of [TorchScript's table](torchscript.md) may be in a program of torch.export, so that programs need not be decomposed to
core ATen. Names are without overloads: the arguments decide which overload is meant. Other parts of an archive, and those that are missing, are in
[formats](../formats.md#torchexport).

)";

// The names of Core ATen IR,
// https://pytorch.org/docs/stable/torch.compiler_ir.html, without overloads.
constexpr std::string_view kCoreOperators[] = {
    "_adaptive_avg_pool2d",
    "_adaptive_avg_pool2d_backward",
    "_adaptive_avg_pool3d",
    "_cdist_forward",
    "_embedding_bag",
    "_fft_r2c",
    "_local_scalar_dense",
    "_log_softmax",
    "_native_batch_norm_legit",
    "_native_batch_norm_legit_no_training",
    "_pdist_forward",
    "_softmax",
    "_to_copy",
    "abs",
    "acos",
    "acosh",
    "adaptive_avg_pool1d",
    "add",
    "addmm",
    "alias",
    "amax",
    "amin",
    "any",
    "arange",
    "argmax",
    "argmin",
    "as_strided",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool2d_backward",
    "avg_pool3d",
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "bmm",
    "cat",
    "ceil",
    "clamp",
    "clone",
    "col2im",
    "constant_pad_nd",
    "convolution",
    "convolution_backward",
    "copy",
    "cos",
    "cosh",
    "cumsum",
    "diagonal",
    "div",
    "elu",
    "embedding",
    "embedding_dense_backward",
    "empty",
    "empty_strided",
    "eq",
    "erf",
    "exp",
    "expand",
    "expm1",
    "fill",
    "flip",
    "floor",
    "fmod",
    "full",
    "full_like",
    "gather",
    "ge",
    "gelu",
    "grid_sampler_2d",
    "gt",
    "hardtanh",
    "index",
    "index_put",
    "index_select",
    "isinf",
    "isnan",
    "le",
    "leaky_relu",
    "log",
    "log10",
    "log1p",
    "log2",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "lt",
    "masked_scatter",
    "max",
    "max_pool2d_with_indices",
    "max_pool2d_with_indices_backward",
    "max_pool3d_with_indices",
    "maximum",
    "mean",
    "min",
    "minimum",
    "mm",
    "mul",
    "native_dropout",
    "native_group_norm",
    "native_group_norm_backward",
    "native_layer_norm",
    "native_layer_norm_backward",
    "ne",
    "neg",
    "nonzero",
    "permute",
    "pow",
    "prod",
    "rand",
    "randn",
    "randperm",
    "reciprocal",
    "reflection_pad1d",
    "reflection_pad2d",
    "reflection_pad3d",
    "relu",
    "remainder",
    "repeat",
    "replication_pad2d",
    "replication_pad3d",
    "resize_",
    "round",
    "rsqrt",
    "scalar_tensor",
    "scatter",
    "scatter_add",
    "scatter_reduce",
    "select",
    "select_scatter",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "slice",
    "slice_scatter",
    "sort",
    "split_with_sizes",
    "sqrt",
    "squeeze",
    "sub",
    "sum",
    "sym_numel",
    "sym_size",
    "sym_storage_offset",
    "sym_stride",
    "tan",
    "tanh",
    "topk",
    "trunc",
    "unsqueeze",
    "upsample_bilinear2d",
    "upsample_nearest2d",
    "var",
    "view",
    "where"};

}  // namespace

std::string CoveragePage() {
  std::ostringstream there;
  std::ostringstream missing;
  size_t supported = 0;
  for (const std::string_view name : kCoreOperators) {
    std::string_view reason = "no row";
    if (torchscript::IsSupportedOperator("aten::" + std::string(name),
                                         &reason)) {
      there << (supported++ == 0 ? "`" : ", `") << name << "`";
    } else {
      missing << "| " << name << " | " << reason << " |\n";
    }
  }
  std::ostringstream page;
  page << kIntroduction << "## Core ATen operators (" << supported << " of "
       << std::size(kCoreOperators) << ")\n\n"
       << there.str()
       << "\n\n### Not there\n\n| operator | why |\n| --- | --- |\n"
       << missing.str() << "\n## Functions on numbers ("
       << torch_export::NumberFunctions().size()
       << ")\n\n| target | operator of the table |\n| --- | --- |\n";
  for (const auto& [target, op] : torch_export::NumberFunctions())
    page << "| " << target << " | " << op << " |\n";
  page << "\n## Operators that take graphs ("
       << torch_export::HigherOrderRows().size() << ")\n\n";
  for (const auto& [target, kind] : torch_export::HigherOrderRows())
    page << "- `" << target << "`\n";
  return page.str();
}

}  // namespace ember::tests
