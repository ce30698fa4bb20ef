// Makes the text of docs/coverage/tflite.md: every builtin operator of the
// format, how its quantized operands are computed, and the reason why an
// operator is not supported. It is made from frontends/tflite/operator_table.h
// alone.
#include "tests/coverage/coverage_page.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <sstream>

#include "frontends/tflite/operator_table.h"

namespace ember::tests {
namespace {

using tflite::OperatorRow;
using tflite::Quantized;

constexpr std::string_view kIntroduction =
    R"(# TensorFlow Lite coverage

Written by `./dev coverage-page` from `frontends/tflite/operator_table.h`; do not edit. What the format's files
may hold beyond operators, and what of that is missing, is in [formats](../formats.md#tensorflow-lite).

*Quantized operands*: `stored`: the stored integers are moved or compared as they are; `own`: arithmetic in
integers, with the format's rounding; `through reals`: the operator computes with the real numbers that the integers
represent, and the result is quantized.

*8-bit results* are compared with the formula in TensorFlow Lite's public sources: with that of the reference kernel if
there are several, and with a table of 256 entries if the usual kernel has one. `equal`: bit for bit; `within one step`:
sums of floats may differ, or the formula is not followed; `real numbers, rounded`: not compared with a formula.
`tests/tflite/quantized_test.cc` and `quantized_formulas_test.cc` have the formulas in plain C++ and compare the operators
with them. Interpreters with other kernels (XNNPACK, NNAPI, an Edge TPU) round differently; the section *Models* has
figures. 16-bit results of TANH, LOGISTIC, SOFTMAX, LOG_SOFTMAX, HARD_SWISH, ELU, GELU, EXP and LOG are within one step.

)";

constexpr std::string_view kModels = R"(
## Models

Published models run on 40 smooth random inputs and on their recorded inputs. Each is compared with its twin, a model with
the same weights as real numbers (floats). The numbers are root mean squares of the distance to the twin, in steps of the
result's scale, here and in TensorFlow Lite's build for browsers (`@tensorflow/tfjs-tflite` 0.0.1-alpha.10, whose 8-bit
kernels are XNNPACK's). `equal` is the share of elements that are the same in both. Measured in November 2026.
`tools/tflite_twins.py` makes such a comparison of any two files.

| model | here | TensorFlow Lite | twin's own size | equal |
| --- | --- | --- | --- | --- |
| resnet8_cifar_int8 | 9.7 | 11.3 | 67.9 | 70% |
| kws_dscnn_int8 | 43.3 | 43.5 | 72.8 | 98% |
| micro_speech_int8 | 2.19 | 2.19 | 97.4 | 100% |
| mobilenet_v2_quant_224 | 4.27 | 4.31 | 18.9 | 17% |
| dtln_quant_2 (8-bit weights, in units of the result) | 0.0966 | 0.0966 | 4.78 | to 3e-7 |

The difference is that XNNPACK rounds products of matrices once, and the kernels that are followed here round them twice.
With one rounding the first three models are equal, element by element, but the recorded results of TensorFlow Lite 2.9 are not.

Pairs of MLCommons' `tiny` repository, on 100 inputs, in units of the result (`tools/tflite_twins.py`; for kws_ref_model with
`--fill=0.05`). The C library is that of TensorFlow Lite 2.2.0. Measured on 1 December 2026.

| model | here | C library | build for browsers | twin's own size | equal to C library |
| --- | --- | --- | --- | --- | --- |
| pretrainedResnet_quant | 0.03599 | 0.03528 | 0.03774 | 0.2506 | 76.1% |
| pretrainedResnet_large_int8 | 0.04443 | 0.04435 | 0.04409 | 0.2267 | 84.4% |
| vww_96_int8 | 0.01358 | 0.01353 | 0.01322 | 0.6668 | 99.0% |
| ad01_int8 | 3.752 | 3.752 | 3.763 | 35.44 | 99.8% |
| kws_ref_model | 0.05127 | 0.05127 | 0.05092 | 0.2887 | 100.0% |
)";

std::string_view Text(Quantized quantized) {
  switch (quantized) {
    case Quantized::kStored:
      return "stored";
    case Quantized::kOwn:
      return "own";
    case Quantized::kReal:
      return "through reals";
  }
  return "";
}

std::string Inputs(const OperatorRow& row) {
  std::string text = std::to_string(row.minimum_inputs);
  if (row.maximum_inputs == tflite::kManyInputs) return text + " or more";
  if (row.maximum_inputs != row.minimum_inputs)
    text += " to " + std::to_string(row.maximum_inputs);
  return text;
}

// Operators on 8-bit numbers that are computed in floats. Tests require their
// results to be within one step only, and the page says so.
constexpr std::string_view kNearlyEqual[] = {
    "ADD_N", "CEIL", "COS",    "DIV",     "FLOOR",      "L2_NORMALIZATION",
    "NEG",   "SIN",  "SQUARE", "SOFTMAX", "LOG_SOFTMAX"};

std::string_view Precision(const OperatorRow& row) {
  const bool is_near =
      std::find(std::begin(kNearlyEqual), std::end(kNearlyEqual), row.name) !=
      std::end(kNearlyEqual);
  if (is_near) return "within one step";
  return row.quantized == Quantized::kReal ? "real numbers, rounded" : "equal";
}

void AddRows(std::span<const OperatorRow> rows, std::ostringstream& page) {
  page << "| operator | operands | quantized operands | 8-bit results |\n"
          "| --- | --- | --- | --- |\n";
  for (const OperatorRow& row : rows) {
    if (!row.reason.empty() || row.name == "CUSTOM") continue;
    page << "| " << row.name << " | " << Inputs(row) << " | "
         << (row.import == nullptr ? "the types of its subgraphs"
                                   : Text(row.quantized))
         << " | "
         << (row.import == nullptr ? std::string_view("those of its subgraphs")
                                   : Precision(row))
         << " |\n";
  }
}

}  // namespace

std::string CoveragePage() {
  const auto builtin = tflite::BuiltinOperators();
  size_t there = 0, missing = 0;
  for (const OperatorRow& row : builtin) {
    if (row.name == "CUSTOM" || row.name == "PLACEHOLDER_FOR_GREATER_OP_CODES")
      continue;
    ++(row.reason.empty() ? there : missing);
  }
  std::ostringstream page;
  page << kIntroduction << "## Builtin operators (" << there << " of "
       << there + missing << ")\n\n";
  AddRows(builtin, page);
  page << "\n## Custom operators\n\n";
  AddRows(tflite::CustomOperators(), page);
  page << "\n## Not there (" << missing << ")\n\n| operator | why |\n"
       << "| --- | --- |\n";
  for (const OperatorRow& row : builtin) {
    if (!row.reason.empty() && row.name != "PLACEHOLDER_FOR_GREATER_OP_CODES")
      page << "| " << row.name << " | " << row.reason << " |\n";
  }
  page << kModels;
  return page.str();
}

}  // namespace ember::tests
