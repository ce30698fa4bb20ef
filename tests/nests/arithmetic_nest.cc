#include "jit/gpu/arithmetic_testing.h"

#include <string>

#include "base/concat.h"
#include "gtest/gtest.h"
#include "tensor/random_values.h"
#include "tensor/scalar.h"

namespace ember::jit::gpu {
namespace {

constexpr size_t kOperands = 3;

using loops::ArithmeticCase;

// Pairs of patterns, rounded up to whole vectors of 7 lanes.
size_t CountOf(const ArithmeticCase& test) {
  const size_t pairs =
      loops::BitPatterns(test.a).size() * loops::BitPatterns(test.b).size();
  return (pairs + 6) / 7 * 7;
}

// With the case's own buffers.
std::string ExpressionOf(const ArithmeticCase& test, size_t number,
                         const char* index) {
  std::string text = test.ExpressionAt(index);
  for (const char* name : {"%a[", "%b[", "%c["}) {
    const std::string own = Concat({"%", std::string(1, name[1]), number, "["});
    for (size_t at = text.find(name); at != std::string::npos;
         at = text.find(name, at + own.size()))
      text.replace(at, 3, own);
  }
  return text;
}

std::string TextOf(std::span<const ArithmeticCase> cases) {
  std::string operands, results, phases;
  for (size_t i = 0; i < cases.size(); ++i) {
    const ArithmeticCase& test = cases[i];
    const size_t count = CountOf(test);
    const auto buffer = [&](const char* name, const char* scope, DType type) {
      const bool is_first = i == 0 && name[0] == 'a';
      return Concat({is_first ? "" : ", ", "%", name, i, ": ", scope, " ",
                     DTypeName(type), "[", count, "]"});
    };
    operands += buffer("a", "input", test.a) + buffer("b", "input", test.b) +
                buffer("c", "input", test.c);
    results +=
        buffer("s", "output", test.result) + buffer("v", "output", test.result);
    phases += Concat({"  phase i < ", count, " { %s", i,
                      "[i] = ", ExpressionOf(test, i, "i"), " }\n  phase i < ",
                      count / 7, " { vector l < 7 { %v", i, "[i * 7 + l] = ",
                      ExpressionOf(test, i, "i * 7 + l"), " } }\n"});
  }
  return Concat({"loops @test(", operands, results, ") {\n", phases, "}"});
}

}  // namespace

ArithmeticNest MakeArithmeticNest(
    std::span<const ArithmeticCase> cases,
    const std::function<void(DType, std::vector<uint8_t>&)>& change) {
  ArithmeticNest made;
  made.cases.assign(cases.begin(), cases.end());
  made.nest = ParseOrDie(TextOf(cases));
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
    const size_t count = CountOf(test);
    std::vector<uint8_t>* const operands = &made.buffers[number * kOperands];
    for (size_t which = 0; which < kOperands; ++which) {
      for (size_t i = 0; i < count; ++i) {
        const size_t at = which == 0   ? i
                          : which == 1 ? i / patterns[0].size()
                                       : i * 7;
        tensor::StoreElement(operands[which].data(), static_cast<int64_t>(i),
                             types[which],
                             patterns[which][at % patterns[which].size()]);
      }
      if (change) change(types[which], operands[which]);
    }
    std::vector<uint8_t>& expected = made.expected.emplace_back(
        count * static_cast<size_t>(DTypeByteSize(test.result)));
    for (int64_t i = 0; i < static_cast<int64_t>(count); ++i) {
      const auto at = [&](size_t which) {
        return tensor::LoadElement(operands[which].data(), i, types[which]);
      };
      tensor::StoreElement(expected.data(), i, test.result,
                           test.expected(at(0), at(1), at(2)));
    }
  }
  return made;
}

void ExpectResults(const ArithmeticNest& test,
                   const std::function<void(DType, const std::vector<uint8_t>&,
                                            std::vector<uint8_t>&)>& accept) {
  for (size_t number = 0; number < test.cases.size(); ++number) {
    const ArithmeticCase& one = test.cases[number];
    for (size_t form = 0; form < 2; ++form) {
      const std::vector<uint8_t>& found =
          test.buffers[test.cases.size() * kOperands + number * 2 + form];
      std::vector<uint8_t> expected = test.expected[number];
      if (accept) accept(one.result, found, expected);
      EXPECT_EQ(tensor::FirstDifferentElement(one.result, expected, found), "")
          << one.expression << " of " << DTypeName(one.a)
          << (form == 0 ? "" : ", in lanes");
    }
  }
}

}  // namespace ember::jit::gpu
