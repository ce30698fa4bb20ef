#include "jit/spirv/target.h"

#include <charconv>

#include "base/target_text.h"

namespace ember::jit::spirv {
namespace {

struct Flag {
  std::string_view name;
  bool& (*of)(Target&);
};

constexpr Flag kFlags[] = {
    {"f16", [](Target& t) -> bool& { return t.f16; }},
    {"f64", [](Target& t) -> bool& { return t.f64; }},
    {"unfused_fma", [](Target& t) -> bool& { return t.unfused_fma; }},
    {"dot", [](Target& t) -> bool& { return t.byte_dots; }},
    {"fast_dot", [](Target& t) -> bool& { return t.fast_dot; }},
    {"fast_mixed_dot", [](Target& t) -> bool& { return t.fast_mixed_dot; }},
    {"int8", [](Target& t) -> bool& { return t.i8; }},
    {"int64", [](Target& t) -> bool& { return t.i64; }},
    {"storage8", [](Target& t) -> bool& { return t.storage8; }},
    {"storage16", [](Target& t) -> bool& { return t.storage16; }},
    {"vulkan_memory_model",
     [](Target& t) -> bool& { return t.vulkan_memory_model; }},
    {"subgroup_arithmetic",
     [](Target& t) -> bool& { return t.subgroup_arithmetic; }},
    {"denorm16", [](Target& t) -> bool& { return t.float16.denorm; }},
    {"denorm32", [](Target& t) -> bool& { return t.float32.denorm; }},
    {"denorm64", [](Target& t) -> bool& { return t.float64.denorm; }},
    {"nan16", [](Target& t) -> bool& { return t.float16.nan; }},
    {"nan32", [](Target& t) -> bool& { return t.float32.nan; }},
    {"nan64", [](Target& t) -> bool& { return t.float64.nan; }},
    {"rte16", [](Target& t) -> bool& { return t.float16.rte; }},
    {"rte32", [](Target& t) -> bool& { return t.float32.rte; }},
    {"rte64", [](Target& t) -> bool& { return t.float64.rte; }},
};

// Features that consist of a name and a number, and the fields that receive the
// numbers.
constexpr struct {
  std::string_view name;
  int64_t& (*of)(Target&);
} kNumbers[] = {
    {"shared", [](Target& t) -> int64_t& { return t.shared_bytes; }},
    {"invocations", [](Target& t) -> int64_t& { return t.invocations; }},
    {"texels", [](Target& t) -> int64_t& { return t.texels; }},
    {"iterations", [](Target& t) -> int64_t& { return t.iterations; }},
    {"subgroup", [](Target& t) -> int64_t& { return t.subgroup_size; }},
};

void Read(std::string_view feature, Target& target) {
  for (const Flag& flag : kFlags) {
    if (flag.name == feature) flag.of(target) = true;
  }
  for (const auto& number : kNumbers) {
    if (feature.substr(0, number.name.size()) != number.name) continue;
    const std::string_view digits = feature.substr(number.name.size());
    int64_t value = 0;
    const char* const end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, value);
    if (read.ec == std::errc() && read.ptr == end) number.of(target) = value;
  }
  constexpr std::string_view kMatrix = "matrix";
  if (feature.substr(0, kMatrix.size()) != kMatrix) return;
  const auto type = loops::ParseMatrixType(feature.substr(kMatrix.size()));
  // SPIR-V 1.6 has only one narrow float type, f16, so matrix products of other
  // narrow floats are ignored.
  const auto is_there = [](DType factor) {
    return !IsNarrowFloat(factor) || factor == DType::kF16;
  };
  if (type && is_there(type->a) && is_there(type->b))
    target.matrices.push_back(*type);
}

}  // namespace

Target Target::Of(std::string_view text) {
  Target target;
  TargetText(text).ForEachFeature(
      [&](std::string_view feature) { Read(feature, target); });
  target.uses_matrices = target.vulkan_memory_model;
  target.marks_vectors = true;
  target.rounds_short_sums = target.unfused_fma && target.f64;
  return target;
}

}  // namespace ember::jit::spirv
