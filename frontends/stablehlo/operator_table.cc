#include "frontends/stablehlo/operator_table.h"

#include <map>

namespace ember::stablehlo {
namespace {

constexpr std::string_view kCollective =
    "it is about several devices: export the program for one";
constexpr std::string_view kHost =
    "it talks to the host while it runs: make what it moves inputs and outputs";
constexpr std::string_view kRandom =
    "random numbers differ from run to run: make them an input of the program";
constexpr std::string_view kRandomBits =
    "its bits are up to who runs it: make them an input of the program, or "
    "export with jax_threefry_partitionable";
constexpr std::string_view kBounded =
    "dims that are bounded but not fixed are not here";
constexpr std::string_view kQuantized = "quantized types are not here yet";
constexpr std::string_view kWithdrawn =
    "the specification has withdrawn it: use einsum or dot_general";
constexpr std::string_view kSpecial = "this special function is not here yet";
constexpr std::string_view kNotYet = "not here yet";

constexpr OperatorRow kOperators[] = {
#define EMBER_ROW(name, minimum, maximum, traits, function) \
  {"stablehlo." #name, minimum, maximum, traits, function},
#define EMBER_SCALAR(name, function) \
  {"stablehlo." #name, 1, 1, kElementwise, ImportScalar<ops::function>},
#define EMBER_NO(op, why) {.name = "stablehlo." #op, .reason = why},
    EMBER_STABLEHLO_OPERATORS(EMBER_ROW, EMBER_SCALAR, EMBER_NO)
#undef EMBER_ROW
#undef EMBER_SCALAR
#undef EMBER_NO
#define EMBER_ROW(name, minimum, maximum, traits, function) \
  {"chlo." #name, minimum, maximum, traits, function},
#define EMBER_SCALAR(name, function) \
  {"chlo." #name, 1, 1, kElementwise, ImportScalar<ops::function>},
#define EMBER_NO(op, why) {.name = "chlo." #op, .reason = why},
        EMBER_CHLO_OPERATORS(EMBER_ROW, EMBER_SCALAR, EMBER_NO)
#undef EMBER_ROW
#undef EMBER_SCALAR
#undef EMBER_NO
#define EMBER_ROW(name, minimum, maximum, traits, function) \
  {name, minimum, maximum, traits, function},
#define EMBER_NO(op, why) {.name = op, .reason = why},
            EMBER_OTHER_OPERATORS(EMBER_ROW, EMBER_NO)
#undef EMBER_ROW
#undef EMBER_NO
};

}  // namespace

std::span<const OperatorRow> Operators() { return kOperators; }

const OperatorRow* FindRow(std::string_view name) {
  static const auto* const kByName = [] {
    auto* rows = new std::map<std::string_view, const OperatorRow*>;
    for (const OperatorRow& row : kOperators) rows->emplace(row.name, &row);
    return rows;
  }();
  const auto found = kByName->find(name);
  return found == kByName->end() ? nullptr : found->second;
}

}  // namespace ember::stablehlo
