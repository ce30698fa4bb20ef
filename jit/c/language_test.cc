// Tests literals of constants of each type: a C compiler compiles a nest that
// stores them, and the stored bits must be right.
#include "jit/c/language.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/concat.h"
#include "gtest/gtest.h"
#include "jit/c/testing/compile_here.h"
#include "jit/c_like/literals.h"
#include "jit/loops/testing/arithmetic_cases.h"
#include "jit/loops/text/text.h"
#include "tensor/scalar.h"

namespace ember::jit::c {
namespace {

constexpr DType kTypes[] = {
#define EMBER_ROW(name, ...) DType::k##name,
    EMBER_FOR_EACH_DTYPE(EMBER_ROW)
#undef EMBER_ROW
};

// Returns a nest that stores each of the bit patterns, as a constant of the
// type, to an element of its own.
loops::LoopNest NestOf(DType type, const std::vector<uint64_t>& patterns) {
  StatusOr<loops::LoopNest> nest =
      loops::Parse(Concat({"loops @constants(%y: output ", DTypeName(type), "[",
                           patterns.size(), "]) { phase t < 1 { } }"}));
  EXPECT_TRUE(nest.ok()) << nest.status().message();
  for (size_t i = 0; i < patterns.size(); ++i) {
    loops::Statement& statement = nest->phases[0].body.emplace_back();
    statement.stores.push_back(
        {.buffer = 0,
         .indices = {nest->pool.Integer(static_cast<int64_t>(i))},
         .value = nest->pool.Constant(patterns[i], type)});
  }
  return *std::move(nest);
}

TEST(CLanguage, ConstantsAreWhatTheyAre) {
  if (!MissingCompiler().empty()) GTEST_SKIP() << MissingCompiler();
  for (const DType type : kTypes) {
    SCOPED_TRACE(DTypeName(type));
    const std::vector<uint64_t>& patterns = loops::BitPatterns(type);
    const auto code = CompileHere(NestOf(type, patterns));
    ASSERT_TRUE(code.ok()) << code.status().message();
    std::vector<uint64_t> memory(patterns.size());
    void* const buffers[] = {memory.data()};
    ASSERT_EQ((*code)->phases[0](nullptr, buffers, 0, 1, nullptr), 0);
    for (size_t i = 0; i < patterns.size(); ++i) {
      EXPECT_EQ(
          tensor::LoadElement(memory.data(), static_cast<int64_t>(i), type),
          patterns[i])
          << c_like::LiteralOf(kLanguage, type, patterns[i]);
    }
  }
}

TEST(CLanguage, NarrowFloatsAreTheirBits) {
  EXPECT_EQ(c_like::TypeOf(kLanguage, DType::kF16), "uint16_t");
  EXPECT_EQ(c_like::TypeOf(kLanguage, DType::kBF16), "uint16_t");
  EXPECT_EQ(c_like::LiteralOf(kLanguage, DType::kF16, 0x3c00), "15360");
}

}  // namespace
}  // namespace ember::jit::c
