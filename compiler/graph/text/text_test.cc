#include "compiler/graph/text/text.h"

#include <fstream>
#include <set>
#include <sstream>

#include "base/testing/seeds.h"
#include "compiler/graph/equal.h"
#include "compiler/graph/operators.h"
#include "compiler/graph/testing/random_graph.h"
#include "compiler/graph/text/base64.h"
#include "compiler/graph/verifier.h"
#include "gtest/gtest.h"

namespace ember::graph {
namespace {

constexpr std::string_view kCanonical =
    R"text(graph @mlp(%x: f32[N, 4], "in/put" = %in_put: i64[]) -> (%y, "also y" = %y, %sum) {
  %w: f32[4, 1] = constant() {value = [1.0, -0.5, inf, bits(0x7fc00001)]}
  %h: f32[N, 1] = contract(%x, %w) {spec = "ik,kj->ij"} from "Gemm_0 (Gemm)"
  %0: f32[] = constant() {value = [0.0]}
  %y: f32[N, 1] = maximum(%h, %0)
  %shape: i64[2] = shape_value() {values = [2*N + 1, floordiv(N, 2)]}
  %sum: i64[2] = add(%shape, %in_put)
}
)text";

TEST(TextTest, CanonicalTextPrintsAsItWas) {
  const StatusOr<Graph> graph = Parse(kCanonical);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(Print(*graph), kCanonical);
}

TEST(TextTest, MetadataFollowsTheGraph) {
  constexpr std::string_view kText =
      R"text(graph @g(%x: f32[2]) -> (%y) {
  %y: f32[2] = neg(%x)
}
text "word"
metadata "a.labels" = "cat\x0adog"
metadata "author" = ""
)text";
  const StatusOr<Graph> graph = Parse(kText);
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  EXPECT_EQ(graph->metadata().at("a.labels"), "cat\ndog");
  EXPECT_EQ(Print(*graph), kText);
  EXPECT_TRUE(Verify(*graph).ok());
  StatusOr<Graph> other = Parse(kText);
  ASSERT_TRUE(other.ok());
  EXPECT_TRUE(Equal(*graph, *other));
  other->set_metadata({{"author", "\xff"}});
  EXPECT_FALSE(Equal(*graph, *other));
  EXPECT_EQ(Verify(*other).message(),
            "metadata 'author': expected a value of at most 1048576 bytes in "
            "UTF-8 without a byte 0, found another");
  EXPECT_EQ(Parse(std::string(kText) + "metadata \"author\" = \"\"\n")
                .status()
                .message(),
            "7:10: expected each key once, found it again");
}

// Returns the text of a graph with regions nested to this depth. The parser
// handles regions recursively, so a large depth must be refused.
std::string Nested(int depth) {
  std::string text = "graph @g(%c: bool[], %x: f32[4]) -> (%y) {\n";
  for (int i = 0; i < depth; ++i) {
    text +=
        "%y: f32[4] = if(%c, %c, %x) {defines = [], shapes = [4]} "
        "then graph @t(%c: bool[], %x: f32[4]) -> (%y) {\n";
  }
  text += "%y: f32[4] = neg(%x)\n";
  for (int i = 0; i < depth; ++i)
    text += "} else graph @e(%c: bool[], %x: f32[4]) -> (%x) {\n}\n";
  return text + "}\n";
}

TEST(TextTest, DeepRegionsAreAnErrorNotACrash) {
  const StatusOr<Graph> fine = Parse(Nested(60));
  EXPECT_TRUE(fine.ok()) << fine.status().message();
  const StatusOr<Graph> deep = Parse(Nested(100000));
  ASSERT_FALSE(deep.ok());
  EXPECT_NE(deep.status().message().find("regions that are less deep"),
            std::string::npos)
      << deep.status().message();
}

TEST(TextTest, LargeConstantsAreLinesAtTheEnd) {
  Graph graph("large");
  std::vector<uint8_t> bytes(1000);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<uint8_t>(i * 7);
  // The graph gets two constants with equal bytes. The printed text must
  // contain the bytes only once.
  for (int i = 0; i < 2; ++i) {
    const auto constant = graph.Add(OperatorNamed("constant"), {},
                                    {{"value", ConstantData::Copy(bytes)},
                                     {"dtype", DType::kU8},
                                     {"shape", Shape{1000}}},
                                    "");
    ASSERT_TRUE(constant.ok());
    graph.AddOutput("c" + std::to_string(i), (*constant)->result());
  }
  const std::string text = Print(graph);
  EXPECT_EQ(text.find("\ndense "), text.rfind("\ndense "));
  const StatusOr<Graph> parsed = Parse(text);
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_TRUE(Equal(*parsed, graph));
  const std::string elided = Print(graph, {.elide_constants = true});
  EXPECT_EQ(elided.find("\ndense "), std::string::npos);
  EXPECT_FALSE(Parse(elided).ok());
}

TEST(TextTest, EqualSeesEveryDifference) {
  const std::string text(kCanonical);
  const StatusOr<Graph> graph = Parse(text);
  const std::pair<std::string_view, std::string_view> edits[] = {
      {"@mlp", "@mlq"},
      {"-0.5", "-0.25"},
      {"Gemm_0", "Gemm_1"},
      {"also y", "too"},
      {"f32[N, 4]", "f32[M, 4]"},
      {"maximum", "minimum"},
      {"in/put", "in/putt"},
      {"%h, %0", "%0, %h"},
      {"0x7fc00001", "0x7fc00002"},
      {"-> (%y, ", "-> (%h, "},
  };
  for (const auto& [from, to] : edits) {
    std::string edited = text;
    edited.replace(edited.find(from), from.size(), to);
    // When the input's dim is renamed, the dims of all results that follow from
    // it are renamed, too.
    size_t at;
    while (from == "f32[N, 4]" && (at = edited.find("N")) != std::string::npos)
      edited[at] = 'M';
    const StatusOr<Graph> other = Parse(edited);
    ASSERT_TRUE(other.ok()) << other.status().message();
    EXPECT_FALSE(Equal(*graph, *other)) << to;
    EXPECT_TRUE(Equal(*other, *other)) << to;
  }
}

TEST(TextTest, RandomGraphsRoundTrip) {
  const SeedRange seeds = TestSeeds(300);
  std::set<std::string_view> seen;
  for (uint64_t seed = seeds.begin; seed < seeds.end; ++seed) {
    SCOPED_TRACE(
        "replay: EMBER_SEED=" + std::to_string(seed) +
        " bazel test //compiler/graph/text:text_test --test_env=EMBER_SEED");
    const Graph graph = RandomGraph(seed, 30);
    ASSERT_TRUE(Verify(graph).ok()) << Verify(graph).message();
    for (const auto& operation : graph.operations())
      seen.insert(operation->name());
    const std::string text =
        Print(graph, {.inline_elements = static_cast<int>(seed % 4) * 8});
    const StatusOr<Graph> parsed = Parse(text);
    ASSERT_TRUE(parsed.ok()) << parsed.status().message() << "\n" << text;
    ASSERT_TRUE(Equal(*parsed, graph)) << text << Print(*parsed);
    const std::string again = Print(*parsed);
    const StatusOr<Graph> twice = Parse(again);
    ASSERT_TRUE(twice.ok() && Print(*twice) == again) << again;
  }
  EXPECT_GT(seen.size(), seeds.is_replay ? 0u : 60u);
}

// --- errors ---

constexpr std::string_view kErrorHead =
    "graph @e(%x: f32[2, 3], %t: f32[3, 2], %v: f32[3], %s: f32[N], %i: i64[2, "
    "3, 4], "
    "%k: i64[2, 1], %c: f32[1, 2, 3], %w: f32[2, 3, 3]) -> () {\n";

TEST(TextTest, ErrorsSayWhatWasExpected) {
  std::ifstream stream("compiler/graph/text/testdata/errors.txt");
  int count = 0;
  std::string line, expected;
  while (std::getline(stream, line)) {
    if (line.rfind("error:", 0) == 0) {
      expected = line.size() > 7 ? line.substr(7) : "";
    } else if (!line.empty() && line.rfind("//", 0) != 0) {
      const StatusOr<Graph> graph =
          Parse(std::string(kErrorHead) + line + "\n}\n");
      EXPECT_EQ(graph.ok() ? "no error" : graph.status().message(), expected)
          << line;
      ++count;
    }
  }
  EXPECT_GT(count, 60);
}

TEST(TextTest, BrokenTextsAreErrors) {
  const std::string text(kCanonical);
  for (size_t length = 0; length + 2 < text.size(); ++length) {
    EXPECT_FALSE(Parse(text.substr(0, length)).ok()) << text.substr(0, length);
  }
  // Each byte of the text is changed in several ways; the parser may return an
  // error but must not crash.
  for (size_t i = 0; i < text.size(); ++i) {
    for (char c : {'}', '"', '%', '9', '\0'}) {
      std::string edited = text;
      edited[i] = c;
      const StatusOr<Graph> graph = Parse(edited);
      if (graph.ok()) {
        EXPECT_TRUE(Verify(*graph).ok() ||
                    edited.find("put") != std::string::npos);
      }
    }
  }
}

TEST(Base64Test, RoundTripsAndRefuses) {
  std::vector<uint8_t> bytes;
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(DecodeBase64(EncodeBase64(bytes)), bytes);
    bytes.push_back(static_cast<uint8_t>(i * 37));
  }
  const std::vector<uint8_t> three{1, 2, 3};
  EXPECT_EQ(EncodeBase64(three), "AQID");
  for (const char* text : {"A", "AQI", "AQI?", "=AQI", "A===", "AQ=D"}) {
    EXPECT_EQ(DecodeBase64(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace ember::graph
