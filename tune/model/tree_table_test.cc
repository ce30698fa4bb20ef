#include "tune/model/tree_table.h"

#include <bit>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tune/model/feature_table.h"
#include "tune/model/nest_features.h"

namespace ember::tune {
namespace {

using testing::HasSubstr;

class FileWriter {
 public:
  FileWriter& Number(uint64_t value, int bytes = 4) {
    for (int i = 0; i < bytes; ++i)
      bytes_.push_back(static_cast<uint8_t>(value >> (8 * i)));
    return *this;
  }
  FileWriter& Float(float value) {
    return Number(std::bit_cast<uint32_t>(value));
  }
  FileWriter& Text(const std::string& text) {
    bytes_.insert(bytes_.end(), text.begin(), text.end());
    return *this;
  }
  FileWriter& Branch(int feature, int right, float threshold) {
    return Number(static_cast<uint64_t>(feature), 2)
        .Number(static_cast<uint64_t>(right), 2)
        .Float(threshold);
  }
  FileWriter& Leaf(float value) { return Branch(0xffff, 0, value); }
  FileWriter& Header(int ensembles) {
    return Text("EMTREES1")
        .Number(kFeatureVersion)
        .Number(kFeatureCount)
        .Float(1)
        .Float(0.25F)
        .Number(static_cast<uint64_t>(ensembles));
  }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

// Returns a file of two ensembles: one has two trees, of which the second is a
// leaf, the other one has a single leaf.
//
//   feature 0 < 2 ? (feature 3 < 1 ? 10 : 20) : 30      plus      0.5
//   -1
std::vector<uint8_t> SmallFile() {
  return FileWriter()
      .Header(2)
      .Number(2)
      .Number(6)
      .Number(0)
      .Number(5)
      .Branch(0, 4, 2)
      .Branch(3, 2, 1)
      .Leaf(10)
      .Leaf(20)
      .Leaf(30)
      .Leaf(0.5F)
      .Number(1)
      .Number(1)
      .Number(0)
      .Leaf(-1)
      .bytes();
}

TEST(TreeTable, EvaluatesTrees) {
  const auto table = TreeTable::Parse(SmallFile());
  ASSERT_TRUE(table.ok()) << table.status().ToString();
  EXPECT_EQ(table->ensembles(), 2);
  EXPECT_EQ(table->tree_count(), 3);
  EXPECT_EQ(table->analytic_share(), 1);
  EXPECT_EQ(table->deviation(), 0.25);
  std::vector<float> features(kFeatureCount);
  EXPECT_EQ(table->Evaluate(0, features), 10.5);
  features[3] = 1;
  EXPECT_EQ(table->Evaluate(0, features), 20.5);
  features[0] = 2;
  EXPECT_EQ(table->Evaluate(0, features), 30.5);
  EXPECT_EQ(table->Evaluate(1, features), -1);
}

TEST(TreeTable, RefusesEveryCutFile) {
  const std::vector<uint8_t> file = SmallFile();
  for (size_t size = 0; size < file.size(); ++size) {
    const auto table = TreeTable::Parse(std::span(file).first(size));
    ASSERT_FALSE(table.ok()) << size;
    EXPECT_EQ(table.status().code(), StatusCode::kDataLoss) << size;
  }
}

// Changes each byte of the file in several ways. A changed file that Parse
// accepts must still be evaluated in finite time and without bad accesses.
TEST(TreeTable, SurvivesDamage) {
  const std::vector<uint8_t> file = SmallFile();
  const std::vector<float> features(kFeatureCount);
  int accepted = 0, refused = 0;
  for (size_t i = 0; i < file.size(); ++i) {
    for (const int bit : {0, 1, 2, 5, 7}) {
      std::vector<uint8_t> damaged = file;
      damaged[i] ^= static_cast<uint8_t>(1 << bit);
      const auto table = TreeTable::Parse(damaged);
      ++(table.ok() ? accepted : refused);
      if (!table.ok()) continue;
      for (size_t e = 0; e < table->ensembles(); ++e)
        table->Evaluate(e, features);
    }
  }
  EXPECT_GT(accepted, 0);
  EXPECT_GT(refused, accepted);
}

std::string ErrorOf(const std::vector<uint8_t>& file) {
  return TreeTable::Parse(file).status().ToString();
}

TEST(TreeTable, SaysWhatIsWrong) {
  EXPECT_THAT(ErrorOf({}), HasSubstr("expected \"EMTREES1\" at its begin"));
  EXPECT_THAT(ErrorOf(FileWriter()
                          .Text("EMTREES1")
                          .Number(kFeatureVersion + 1)
                          .Number(7)
                          .bytes()),
              HasSubstr("with 7; make it again with ./dev tune-model"));
  EXPECT_THAT(ErrorOf(FileWriter().Header(0).bytes()),
              HasSubstr("expected 1 to 64 ensembles"));
  // An ensemble claims to have 2^32 - 1 trees and nodes. Parse refuses that
  // before it allocates memory for them.
  EXPECT_THAT(ErrorOf(FileWriter().Header(1).Number(~0u).Number(~0u).bytes()),
              HasSubstr("ensemble 0 is cut off"));
  const auto of_tree = [](const FileWriter& nodes, uint64_t count) {
    FileWriter file;
    file.Header(1).Number(1).Number(count).Number(0);
    std::vector<uint8_t> bytes = file.bytes();
    bytes.insert(bytes.end(), nodes.bytes().begin(), nodes.bytes().end());
    return ErrorOf(bytes);
  };
  EXPECT_THAT(of_tree(FileWriter().Branch(0, 1, 0).Leaf(1), 2),
              HasSubstr("ensemble 0, tree 0: file of trees: expected children "
                        "behind their parent"));
  EXPECT_THAT(of_tree(FileWriter().Branch(0, 2, 0).Leaf(1), 2),
              HasSubstr("expected children"));
  EXPECT_THAT(of_tree(FileWriter().Branch(9999, 2, 0).Leaf(1).Leaf(1), 3),
              HasSubstr("found 9999"));
  EXPECT_THAT(
      of_tree(FileWriter().Leaf(std::numeric_limits<float>::infinity()), 1),
      HasSubstr("expected finite numbers"));
  EXPECT_THAT(of_tree(FileWriter().Leaf(1).Number(0), 1),
              HasSubstr("expected its end after the trees"));
}

}  // namespace
}  // namespace ember::tune
