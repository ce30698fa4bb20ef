#include "frontends/stablehlo/pretty_forms.h"

namespace ember::stablehlo {
namespace {

using Keyword = PrettyForm::Keyword;

constexpr std::string_view kCompareWords[] = {"comparison_direction",
                                              "compare_type"};
constexpr Keyword kDimension[] = {{"dim", "dimension"}};
constexpr Keyword kIota[] = {{"dim", "iota_dimension"}};
constexpr Keyword kBroadcastInDim[] = {{"dims", "broadcast_dimensions"}};
constexpr Keyword kBroadcast[] = {{"sizes", "broadcast_sizes"}};
constexpr Keyword kTranspose[] = {{"dims", "permutation"}};
constexpr Keyword kReverse[] = {{"dims", "dimensions"}};
constexpr Keyword kDynamicSlice[] = {{"sizes", "slice_sizes"}};
constexpr Keyword kPad[] = {{"low", "edge_padding_low"},
                            {"high", "edge_padding_high"},
                            {"interior", "interior_padding"}};
constexpr Keyword kFft[] = {{"type", "fft_type"}, {"length", "fft_length"}};
constexpr Keyword kRng[] = {{"distribution", "rng_distribution"},
                            {"algorithm", "rng_algorithm"}};
constexpr Keyword kDot[] = {{"precision", "precision_config"}};
constexpr Keyword kConvolution[] = {{"dim_numbers", "dimension_numbers"}};
constexpr Keyword kEinsum[] = {{"config", "einsum_config"}};

constexpr PrettyForm kForms[] = {
    {.operation = "stablehlo.broadcast", .keywords = kBroadcast},
    {.operation = "stablehlo.broadcast_in_dim", .keywords = kBroadcastInDim},
    {.operation = "stablehlo.compare", .words = kCompareWords},
    {.operation = "chlo.broadcast_compare", .words = kCompareWords},
    {.operation = "stablehlo.complex", .types = TypeForm::kResult},
    {.operation = "stablehlo.concatenate", .keywords = kDimension},
    {.operation = "stablehlo.convolution", .keywords = kConvolution},
    {.operation = "stablehlo.create_token", .types = TypeForm::kResult},
    {.operation = "stablehlo.custom_call", .types = TypeForm::kResult},
    {.operation = "stablehlo.dot", .keywords = kDot},
    {.operation = "stablehlo.dot_general", .keywords = kDot},
    {.operation = "stablehlo.dynamic_broadcast_in_dim",
     .keywords = kBroadcastInDim},
    {.operation = "stablehlo.dynamic_conv", .keywords = kConvolution},
    {.operation = "stablehlo.dynamic_iota", .keywords = kIota},
    {.operation = "stablehlo.dynamic_slice", .keywords = kDynamicSlice},
    {.operation = "stablehlo.einsum", .keywords = kEinsum},
    {.operation = "stablehlo.fft", .keywords = kFft},
    {.operation = "stablehlo.get_dimension_size", .keywords = kDimension},
    {.operation = "stablehlo.iota", .keywords = kIota},
    {.operation = "stablehlo.optimization_barrier",
     .types = TypeForm::kPairwise},
    {.operation = "stablehlo.pad", .keywords = kPad},
    {.operation = "stablehlo.return", .types = TypeForm::kOperands},
    {.operation = "func.return", .types = TypeForm::kOperands},
    {.operation = "stablehlo.reverse", .keywords = kReverse},
    {.operation = "stablehlo.rng", .keywords = kRng},
    {.operation = "stablehlo.rng_bit_generator", .keywords = kRng},
    {.operation = "stablehlo.select", .types = TypeForm::kSelect},
    {.operation = "stablehlo.set_dimension_size", .keywords = kDimension},
    {.operation = "stablehlo.transpose", .keywords = kTranspose},
    {.operation = "stablehlo.tuple", .types = TypeForm::kResult},
    {.operation = "stablehlo.unary_einsum", .keywords = kEinsum},
};

constexpr PrettyForm kPlain;

}  // namespace

std::string_view PrettyForm::AttributeOf(std::string_view keyword) const {
  for (const Keyword& row : keywords)
    if (row.text == keyword) return row.attribute;
  return keyword;
}

const PrettyForm& PrettyFormOf(std::string_view operation) {
  for (const PrettyForm& form : kForms)
    if (form.operation == operation) return form;
  return kPlain;
}

}  // namespace ember::stablehlo
