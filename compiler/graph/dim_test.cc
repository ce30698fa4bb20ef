#include "compiler/graph/dim.h"

#include <random>

#include "base/testing/seeds.h"
#include "gtest/gtest.h"

namespace ember::graph {
namespace {

Dim Parsed(std::string_view text) {
  const StatusOr<Dim> dim = ParseDim(text);
  EXPECT_TRUE(dim.ok()) << text << ": " << dim.status().message();
  return dim.ok() ? *dim : Dim::Invalid();
}

// Each line of the test's table is an expression, " == " and its canonical
// text.
TEST(DimTest, CanonicalForms) {
  const std::pair<const char*, const char*> cases[] = {
      {"N * 2 + 1 - N", "N + 1"},
      {"(N + 1) * (N - 1)", "N*N - 1"},
      {"H * N - N * H", "0"},
      {"floordiv(2 * N, 2)", "N"},
      {"floordiv(6 * N + 3, 3)", "2*N + 1"},
      {"floordiv(4 * N + 6, 8)", "floordiv(N + 1, 2)"},
      {"floordiv(4 * N + 5, 8)", "floordiv(N + 1, 2)"},
      {"floordiv(floordiv(N, 2), 3)", "floordiv(N, 6)"},
      {"floordiv(floordiv(N - 1, 2) + 1, 2)", "floordiv(N + 1, 4)"},
      {"floordiv(N - 3, 2)", "floordiv(N + 1, 2) - 2"},
      {"floordiv(mod(N, 4), 4)", "0"},
      {"floordiv(mod(N, 4), 2)", "floordiv(mod(N, 4), 2)"},
      {"floordiv(N * a, a)", "N"},
      {"floordiv(N * H * 12, H * 4)", "3*N"},
      {"floordiv(N * H + H, H)", "N + 1"},
      {"floordiv((N + 1) * (H + 2), H + 2)", "N + 1"},
      {"floordiv(N * N - 1, N + 1)", "N - 1"},
      {"floordiv(2 * N * H, 4 * H)", "floordiv(N, 2)"},
      {"floordiv(0, N)", "0"},
      {"floordiv(-N, -1)", "N"},
      {"floordiv(-7, 2)", "-4"},
      {"ceildiv(N, 4)", "floordiv(N + 3, 4)"},
      {"ceildiv(-7, 2)", "-3"},
      {"mod(6 * N, 3)", "0"},
      {"mod(7 * N + 5, 3)", "mod(N + 2, 3)"},
      {"mod(6 * N + 4, 8)", "2*mod(3*N + 2, 4)"},
      {"mod(mod(N, 8), 4)", "mod(N, 4)"},
      {"mod(mod(N, 4), 8)", "mod(N, 4)"},
      {"mod(N * H, H)", "0"},
      {"mod(N * H + 3, H)", "mod(3, H)"},
      {"mod(-7, 3)", "2"},
      {"min(3, 5)", "3"},
      {"max(N, N + 1)", "N + 1"},
      {"min(N, N)", "N"},
      {"max(N, 0)", "N"},
      {"min(N, -1)", "-1"},
      {"min(min(N, 3), 5)", "min(3, N)"},
      {"max(max(N, H), N)", "max(H, N)"},
      {"min(mod(N, 4), 9)", "mod(N, 4)"},
      {"N / 2 % 3", "mod(floordiv(N, 2), 3)"},
      {"-9223372036854775808", "-9223372036854775808"},
  };
  for (const auto& [text, canonical] : cases) {
    EXPECT_EQ(Parsed(text).ToString(), canonical) << text;
    EXPECT_EQ(Parsed(canonical), Parsed(text)) << text;
  }
}

TEST(DimTest, OverflowAndDivisionByZeroAreInvalid) {
  const Dim n = Dim::Symbol("N");
  const Dim large = INT64_MAX;
  for (const Dim& dim :
       {large + 1, large * 2, large * n * 2, FloorDivide(n, 0), Modulo(n, 0),
        FloorDivide(Dim(INT64_MIN), -1), Dim(INT64_MIN) - n - 1}) {
    EXPECT_FALSE(dim.is_valid()) << dim.ToString();
    EXPECT_FALSE((dim * 0 + n).is_valid());
    EXPECT_FALSE(dim.is_constant());
    EXPECT_FALSE(dim.Evaluate({{"N", 1}}).ok());
  }
}

TEST(DimTest, HostileExpressionsStaySmall) {
  Dim power = Dim::Symbol("A") + Dim::Symbol("B") + Dim::Symbol("C");
  for (int i = 0; i < 10; ++i) power = power * power;
  EXPECT_FALSE(power.is_valid());
  Dim nested = Dim::Symbol("A");
  for (int i = 0; i < 100; ++i)
    nested = Minimum(nested * 3 - i, FloorDivide(nested + i, 7));
  EXPECT_FALSE(nested.is_valid());
}

TEST(DimTest, EvaluateReportsWhatIsMissing) {
  const Dim dim = Parsed("floordiv(H + 1, W)");
  EXPECT_EQ(*dim.Evaluate({{"H", 8}, {"W", 2}}), 4);
  EXPECT_EQ(dim.Evaluate({{"H", 8}}).status().message(),
            "dim 'floordiv(H + 1, W)': symbol 'W' has no value");
  EXPECT_EQ(dim.Evaluate({{"H", 8}, {"W", 0}}).status().message(),
            "dim 'floordiv(H + 1, W)': its arithmetic overflows 64 bits or "
            "divides by 0");
}

TEST(DimTest, SymbolsThatAreNoIdentifiers) {
  EXPECT_EQ(Dim::Symbol("batch size").ToString(), "batch_20size");
  EXPECT_EQ(Dim::Symbol("").ToString(), "_");
  EXPECT_EQ(Dim::Symbol("inf").ToString(), "inf_");
  EXPECT_NE(Dim::Symbol(std::string(500, 'a')),
            Dim::Symbol(std::string(501, 'a')));
  EXPECT_EQ(Parsed(Dim::Symbol("0?").ToString()), Dim::Symbol("0?"));
}

TEST(DimTest, ParseErrors) {
  for (const char* text :
       {"", "N +", "foo(N, 2)", "N N", "floordiv(N 2)", "1.5",
        "99999999999999999999", "floordiv(N, 0)", "%N"}) {
    EXPECT_FALSE(ParseDim(text).ok()) << text;
  }
  EXPECT_FALSE(ParseDim(std::string(100000, '(')).ok());
  EXPECT_FALSE(ParseDim(std::string(100000, '-')).ok());
}

TEST(DimTest, Bounds) {
  EXPECT_EQ(Parsed("2*N + 1").LowerBound(), 1);
  EXPECT_EQ(Parsed("2*N + 1").UpperBound(), std::nullopt);
  EXPECT_EQ(Parsed("3 - N").UpperBound(), 3);
  EXPECT_EQ(Parsed("min(N, 7) * 2").UpperBound(), 14);
  EXPECT_EQ(Parsed("mod(N - 5, 4)").LowerBound(), 0);
  EXPECT_EQ(Parsed("N * H").LowerBound(), 0);
  EXPECT_EQ(Parsed("N - H").LowerBound(), std::nullopt);
  // The bounds of a - d * floordiv(a, d) are 0 and d - 1, although its single
  // terms are unbounded.
  EXPECT_EQ(Parsed("2*floordiv(H + 1, 2) - H").LowerBound(), 0);
  EXPECT_EQ(Parsed("2*floordiv(H + 1, 2) - H").UpperBound(), 1);
  EXPECT_EQ(Parsed("H - 6*floordiv(H - N, 3)").UpperBound(), std::nullopt);
  EXPECT_EQ(Parsed("max(4*floordiv(H, 4) - H, 1)"), Dim(1));
}

// --- random expressions: simplification must not change their values ---

// A dim together with the value that plain arithmetic gives for the same
// expression.
struct Checked {
  Dim dim;
  __int128 value;
};

class RandomDims {
 public:
  explicit RandomDims(uint64_t seed) : random_(seed) {}

  std::map<std::string, int64_t> NewBindings() {
    for (const char* name : {"A", "B", "C"}) bindings_[name] = 1 + Below(9);
    return bindings_;
  }

  Checked Make(int depth) {
    if (depth == 0 || Below(6) == 0) {
      if (Below(2) == 0) {
        const int64_t value = Below(25) - 8;
        return {Dim(value), value};
      }
      const std::string name(1, static_cast<char>('A' + Below(3)));
      return {Dim::Symbol(name), bindings_[name]};
    }
    const Checked a = Make(depth - 1), b = Make(depth - 1);
    switch (Below(8)) {
      case 0:
        return {a.dim + b.dim, a.value + b.value};
      case 1:
        return {a.dim - b.dim, a.value - b.value};
      case 2:
        return {a.dim * b.dim, a.value * b.value};
      case 3:
        return {Minimum(a.dim, b.dim), std::min(a.value, b.value)};
      case 4:
        return {Maximum(a.dim, b.dim), std::max(a.value, b.value)};
      default:
        return Division(a, b);
    }
  }

 private:
  int64_t Below(int64_t limit) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(limit));
  }

  // Returns the quotient or the remainder of a and b. If b is 0, or its
  // unsimplified form could be, a random constant is the divisor instead.
  Checked Division(const Checked& a, const Checked& b) {
    Checked divisor = b;
    if (b.value == 0 || b.dim == Dim(0) || Below(2) == 0) {
      divisor.value = 1 + Below(12);
      divisor.dim = Dim(static_cast<int64_t>(divisor.value));
    }
    const __int128 truncated = a.value / divisor.value;
    const bool down =
        a.value % divisor.value != 0 && (a.value < 0) != (divisor.value < 0);
    const __int128 quotient = truncated - (down ? 1 : 0);
    if (Below(2) == 0) return {FloorDivide(a.dim, divisor.dim), quotient};
    return {Modulo(a.dim, divisor.dim), a.value - quotient * divisor.value};
  }

  std::mt19937_64 random_;
  std::map<std::string, int64_t> bindings_;
};

TEST(DimTest, RandomExpressionsKeepTheirValue) {
  const SeedRange seeds = TestSeeds(6000);
  int evaluated = 0;
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    RandomDims random(seed);
    const auto bindings = random.NewBindings();
    const Checked checked = random.Make(4);
    if (!checked.dim.is_valid()) continue;
    const std::string replay =
        "replay: EMBER_SEED=" + std::to_string(seed) +
        " bazel test //compiler/graph:dim_test --test_env=EMBER_SEED";
    const StatusOr<int64_t> value = checked.dim.Evaluate(bindings);
    ASSERT_TRUE(value.ok()) << value.status().message() << "; " << replay;
    ASSERT_EQ(*value, static_cast<int64_t>(checked.value))
        << checked.dim.ToString() << "; " << replay;
    const StatusOr<Dim> parsed = ParseDim(checked.dim.ToString());
    ASSERT_TRUE(parsed.ok()) << parsed.status().message() << "; " << replay;
    ASSERT_EQ(*parsed, checked.dim) << parsed->ToString() << " for "
                                    << checked.dim.ToString() << "; " << replay;
    const auto low = checked.dim.LowerBound(), high = checked.dim.UpperBound();
    ASSERT_LE(low.value_or(*value), *value)
        << checked.dim.ToString() << "; " << replay;
    ASSERT_GE(high.value_or(*value), *value)
        << checked.dim.ToString() << "; " << replay;
    ++evaluated;
  }
  EXPECT_GE(evaluated, seeds.is_replay ? 0 : 4500);
}

}  // namespace
}  // namespace ember::graph
