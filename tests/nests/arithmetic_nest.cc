#include "tests/nests/arithmetic_nest.h"

#include <array>
#include <cstdint>

#include "base/concat.h"
#include "base/dtype.h"
#include "base/rounding.h"
#include "jit/gpu/testing/run_nest.h"
#include "tensor/scalar.h"
#include "tests/cases/elements.h"

namespace ember::nests {
namespace {

using loops::ArithmeticCase;
using loops::IsSubnormal;

constexpr size_t kOperands = 3;

struct Form {
  const char* buffer;
  int64_t lanes;
};
constexpr size_t kForms = 3;
std::array<Form, kForms> FormsOf(const NestBackEnd& back_end) {
  return {{{"s", 1}, {"v", back_end.lanes[0]}, {"o", back_end.lanes[1]}}};
}

// Returns the number of pairs of bit patterns that a case computes, rounded up
// so that vectors of either size fit.
int64_t CountOf(const ArithmeticCase& test, const NestBackEnd& back_end) {
  const size_t pairs =
      loops::BitPatterns(test.a).size() * loops::BitPatterns(test.b).size();
  return RoundUp(static_cast<int64_t>(pairs),
                 back_end.lanes[0] * back_end.lanes[1]);
}

// Returns the case's expression with its buffers renamed by the case's number:
// %a becomes %a3 in case 3.
std::string ExpressionOf(const ArithmeticCase& test, size_t number,
                         const std::string& index) {
  std::string text = test.ExpressionAt(index);
  for (const char* name : {"%a[", "%b[", "%c["}) {
    const std::string own = Concat({"%", std::string(1, name[1]), number, "["});
    for (size_t at = text.find(name); at != std::string::npos;
         at = text.find(name, at + own.size()))
      text.replace(at, 3, own);
  }
  return text;
}

std::string TextOf(std::span<const ArithmeticCase> cases,
                   const NestBackEnd& back_end) {
  std::string operands, results, phases;
  for (size_t i = 0; i < cases.size(); ++i) {
    const ArithmeticCase& test = cases[i];
    const int64_t count = CountOf(test, back_end);
    const auto buffer = [&](const char* name, const char* scope, DType type) {
      return Concat({operands.empty() ? "" : ", ", "%", name, i, ": ", scope,
                     " ", DTypeName(type), "[", count, "]"});
    };
    operands += buffer("a", "input", test.a);
    operands += buffer("b", "input", test.b);
    operands += buffer("c", "input", test.c);
    for (const Form& form : FormsOf(back_end)) {
      results += buffer(form.buffer, "output", test.result);
      const std::string index =
          form.lanes == 1 ? "i" : Concat({"i * ", form.lanes, " + l"});
      const std::string store = Concat({"%", form.buffer, i, "[", index,
                                        "] = ", ExpressionOf(test, i, index)});
      phases +=
          Concat({"  phase i < ", count / form.lanes, " { ",
                  form.lanes == 1
                      ? store
                      : Concat({"vector l < ", form.lanes, " { ", store, " }"}),
                  " }\n"});
    }
  }
  return Concat({"loops @test(", operands, results, ") {\n", phases, "}"});
}

bool MayBeZero(const NestBackEnd& back_end, DType type, uint64_t bits) {
  return IsSubnormal(type, bits) && !back_end.keeps_subnormals(type);
}

// True if the pattern is a NaN of f16, and the back end may set its quiet bit
// when it loads the pattern.
bool IsQuietened(const NestBackEnd& back_end, const ArithmeticCase& test,
                 uint64_t a) {
  constexpr uint64_t kMagnitude = 0x7fff, kInfinity = 0x7c00;
  return back_end.quietens_f16 && test.a == DType::kF16 &&
         (a & kMagnitude) > kInfinity;
}
constexpr uint64_t kQuiet = 0x200;

}  // namespace

ArithmeticNest MakeArithmeticNest(std::span<const ArithmeticCase> cases,
                                  const NestBackEnd& back_end) {
  ArithmeticNest made;
  made.cases.assign(cases.begin(), cases.end());
  made.nest = jit::gpu::ParseOrDie(TextOf(cases, back_end));
  for (const loops::Buffer& buffer : made.nest.buffers) {
    made.buffers.emplace_back(
        static_cast<size_t>(*made.nest.pool.IntegerConstant(buffer.extents[0]) *
                            DTypeByteSize(buffer.type)));
  }
  for (size_t number = 0; number < cases.size(); ++number) {
    const ArithmeticCase& test = cases[number];
    const DType types[] = {test.a, test.b, test.c};
    std::vector<uint64_t> patterns[kOperands];
    for (size_t i = 0; i < kOperands; ++i)
      patterns[i] = loops::BitPatterns(types[i]);
    const int64_t count = CountOf(test, back_end);
    std::vector<uint8_t>* const operands = &made.buffers[number * kOperands];
    std::vector<uint8_t>& expected = made.expected.emplace_back(
        static_cast<size_t>(count * DTypeByteSize(test.result)));
    for (int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<size_t>(i);
      const size_t which[] = {at, at / patterns[0].size(), at * 7};
      uint64_t bits[kOperands];
      for (size_t j = 0; j < kOperands; ++j) {
        bits[j] = patterns[j][which[j] % patterns[j].size()];
        if (MayBeZero(back_end, types[j], bits[j])) bits[j] = 0;
        tensor::StoreElement(operands[j].data(), i, types[j], bits[j]);
      }
      tensor::StoreElement(expected.data(), i, test.result,
                           test.expected(bits[0], bits[1], bits[2]));
    }
  }
  return made;
}

std::string WrongResult(const ArithmeticNest& test,
                        const NestBackEnd& back_end) {
  for (size_t number = 0; number < test.cases.size(); ++number) {
    const ArithmeticCase& one = test.cases[number];
    const std::vector<uint8_t>& operand = test.buffers[number * kOperands];
    for (size_t form = 0; form < kForms; ++form) {
      const std::vector<uint8_t>& found =
          test.buffers[test.cases.size() * kOperands + number * kForms + form];
      std::vector<uint8_t> expected = test.expected[number];
      const int64_t count = CountOf(one, back_end);
      for (int64_t i = 0; i < count; ++i) {
        const uint64_t is = tensor::LoadElement(found.data(), i, one.result);
        const uint64_t wanted =
            tensor::LoadElement(expected.data(), i, one.result);
        const uint64_t a = tensor::LoadElement(operand.data(), i, one.a);
        const bool is_as_good =
            (MayBeZero(back_end, one.result, wanted) &&
             tensor::BitsToDouble(is, one.result) == 0) ||
            (IsQuietened(back_end, one, a) && is == (wanted | kQuiet));
        if (is_as_good)
          tensor::StoreElement(expected.data(), i, one.result, is);
      }
      const std::string difference = cases::FirstDifference(
          one.result, expected, found, {.zeros_are_equal = back_end.is_device});
      if (difference.empty()) continue;
      return Concat({one.expression, " of ", DTypeName(one.a), ", ",
                     DTypeName(one.b), ", ", DTypeName(one.c), " in ",
                     FormsOf(back_end)[form].lanes, " lanes: ", difference});
    }
  }
  return "";
}

}  // namespace ember::nests
