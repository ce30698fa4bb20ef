// Tests support vector machines and nearest neighbours against their formulas.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "frontends/coreml/testing/sample_models.h"
#include "tests/coreml/one_model.h"
#include "tests/formats/numbers.h"

namespace ember::tests {
namespace {

using coreml::Description;
using coreml::DoubleFeature;
using coreml::Message;
using coreml::ModelOf;
using coreml::StringFeature;

using Point = std::vector<double>;

const std::vector<Point> kRows = {{1, 0}, {-0.5, 2}, {0.25, -1.5}, {2, 2}};
const std::vector<Point> kVectors = {{1, 2}, {-1, 0.5}, {0, -2}, {2, 0.25}};

std::vector<Numbers> Columns() {
  std::vector<Numbers> columns;
  for (const size_t i : {0, 1}) {
    Point column;
    for (const Point& row : kRows) column.push_back(row[i]);
    columns.push_back(F64({4}, column));
  }
  return columns;
}

double Dot(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1]; }
double Distance(const Point& a, const Point& b) {
  const Point d = {a[0] - b[0], a[1] - b[1]};
  return Dot(d, d);
}

Message Dense() {
  Message vectors;
  for (const Point& point : kVectors)
    vectors.Put(1, Message().Doubles(1, point));
  return vectors;
}
Message Sparse() {
  Message vectors;
  for (const Point& point : kVectors) {
    Message vector;
    for (size_t i = 0; i < 2; ++i) {
      if (point[i] == 0) continue;
      vector.Put(1, Message()
                        .Integer(1, static_cast<int64_t>(i) + 1)
                        .Double(2, point[i]));
    }
    vectors.Put(1, vector);
  }
  return vectors;
}

TEST(SupportVectors, RegressorOfEachKernel) {
  struct Case {
    Message kernel;
    std::function<double(const Point&, const Point&)> f;
  };
  const Case cases[] = {
      {Message().Put(1, Message()), Dot},
      {Message().Put(2, Message().Double(1, 0.3)),
       [](const Point& a, const Point& b) {
         return std::exp(-0.3 * Distance(a, b));
       }},
      {Message().Put(3, Message().Integer(1, 4).Double(2, 0.5).Double(3, 2)),
       [](const Point& a, const Point& b) {
         return std::pow(2 * Dot(a, b) + 0.5, 4);
       }},
      {Message().Put(4, Message().Double(1, 0.2).Double(2, -0.1)),
       [](const Point& a, const Point& b) {
         return std::tanh(0.2 * Dot(a, b) - 0.1);
       }},
  };
  const Point alpha = {0.5, -1, 2, 0.25};
  for (const Case& c : cases) {
    Point expected;
    for (const Point& row : kRows) {
      double sum = -0.75;
      for (size_t v = 0; v < kVectors.size(); ++v)
        sum += alpha[v] * c.f(row, kVectors[v]);
      expected.push_back(sum);
    }
    for (const bool is_sparse : {false, true}) {
      const Message machine =
          Message()
              .Put(1, c.kernel)
              .Put(is_sparse ? 2 : 3, is_sparse ? Sparse() : Dense())
              .Put(4, Message().Doubles(1, alpha))
              .Double(5, 0.75);
      ExpectNumbers(
          RunModel(ModelOf(Description({DoubleFeature("a"), DoubleFeature("b")},
                                       {DoubleFeature("y")})
                               .Text(11, "y"),
                           301, machine)
                       .bytes(),
                   Columns()),
          {F64({4}, expected)});
    }
  }
}

// Returns a support vector classifier of three classes: class 7 has one support
// vector, class 8 one, and class 9 two.
Message ThreeClasses() {
  return Message()
      .Put(1, Message().Put(1, Message()))
      .Integers(2, {1, 1, 2})
      .Put(4, Dense())
      .Put(5, Message().Doubles(1, {1, -0.5, -1, -0.25}))
      .Put(5, Message().Doubles(1, {0.75, 1, -0.5, -2}))
      .Doubles(6, {0.1, -0.2, 0.3})
      .Put(101, Message().Integers(1, {7, 8, 9}));
}
// Returns the decision values for the pairs of classes (7, 8), (7, 9) and (8,
// 9).
Point Decisions(const Point& row) {
  const auto k = [&](size_t v) { return Dot(row, kVectors[v]); };
  return {1 * k(0) + -0.5 * k(1) - 0.1,
          0.75 * k(0) + -1 * k(2) + -0.25 * k(3) + 0.2,
          1 * k(1) + -0.5 * k(2) + -2 * k(3) - 0.3};
}

Message Classifier(const Message& machine, bool gives_probabilities) {
  std::vector<Message> outputs = {DoubleFeature("label")};
  if (gives_probabilities) outputs.push_back(DoubleFeature("p"));
  return ModelOf(Description({DoubleFeature("a"), DoubleFeature("b")}, outputs)
                     .Text(11, "label")
                     .Text(12, "p"),
                 401, machine);
}

TEST(SupportVectors, LabelsByVotes) {
  Point expected;
  for (const Point& row : kRows) {
    const Point d = Decisions(row);
    std::vector<int> votes(3, 0);
    ++votes[d[0] > 0 ? 0 : 1];
    ++votes[d[1] > 0 ? 0 : 2];
    ++votes[d[2] > 0 ? 1 : 2];
    size_t best = 0;
    for (size_t k = 1; k < 3; ++k)
      if (votes[k] > votes[best]) best = k;
    expected.push_back(7 + static_cast<double>(best));
  }
  ExpectNumbers(RunModel(Classifier(ThreeClasses(), false).bytes(), Columns()),
                {I64({4}, expected)});
  EXPECT_NE(RunModel(Classifier(ThreeClasses(), true).bytes(), Columns())
                .status()
                .message()
                .find("expected probA and probB"),
            std::string_view::npos);
}

TEST(SupportVectors, ProbabilitiesOfTwoClasses) {
  const Message machine = Message()
                              .Put(1, Message().Put(1, Message()))
                              .Integers(2, {2, 2})
                              .Put(3, Sparse())
                              .Put(5, Message().Doubles(1, {1, 0.5, -1, -0.5}))
                              .Doubles(6, {0.25})
                              .Doubles(7, {-1.5})
                              .Doubles(8, {0.2})
                              .Put(101, Message().Integers(1, {3, 4}));
  Point labels, probabilities;
  for (const Point& row : kRows) {
    const auto k = [&](size_t v) { return Dot(row, kVectors[v]); };
    const double decision = k(0) + 0.5 * k(1) - k(2) - 0.5 * k(3) - 0.25;
    const double p = 1 / (1 + std::exp(-1.5 * decision + 0.2));
    labels.push_back(p > 0.5 ? 3 : 4);
    probabilities.push_back(p);
    probabilities.push_back(1 - p);
  }
  ExpectNumbers(RunModel(Classifier(machine, true).bytes(), Columns()),
                {I64({4}, labels), F64({4, 2}, probabilities)});
}

// The probabilities p of the classes minimise Σ_i Σ_{j≠i} (r_ji p_i - r_ij
// p_j)², where r are the probabilities of the pairs. At the minimum all
// components of Q p are equal, where Q is the matrix of this quadratic form.
TEST(SupportVectors, ProbabilitiesOfThreeClasses) {
  Message machine = ThreeClasses();
  machine.Doubles(7, {-1, -0.5, -0.75}).Doubles(8, {0.1, 0, -0.2});
  const auto results = RunModel(Classifier(machine, true).bytes(), Columns());
  ASSERT_TRUE(results.ok()) << results.status().ToString();
  const Numbers& p = (*results)[1];
  ASSERT_EQ(p.dims, (std::vector<int64_t>{4, 3}));
  const Point a = {-1, -0.5, -0.75}, b = {0.1, 0, -0.2};
  for (size_t n = 0; n < 4; ++n) {
    const Point d = Decisions(kRows[n]);
    double r[3][3] = {};
    const size_t pairs[3][2] = {{0, 1}, {0, 2}, {1, 2}};
    for (size_t i = 0; i < 3; ++i) {
      const double pair = 1 / (1 + std::exp(a[i] * d[i] + b[i]));
      r[pairs[i][0]][pairs[i][1]] = pair;
      r[pairs[i][1]][pairs[i][0]] = 1 - pair;
    }
    Point gradient(3, 0);
    double sum = 0;
    for (size_t i = 0; i < 3; ++i) {
      sum += p.values[3 * n + i];
      for (size_t j = 0; j < 3; ++j) {
        if (i == j) continue;
        gradient[i] += r[j][i] * r[j][i] * p.values[3 * n + i] -
                       r[j][i] * r[i][j] * p.values[3 * n + j];
      }
    }
    EXPECT_NEAR(sum, 1, 1e-9);
    EXPECT_NEAR(gradient[0], gradient[1], 4e-3);
    EXPECT_NEAR(gradient[0], gradient[2], 4e-3);
  }
}

TEST(SupportVectors, WrongCountsAreSaid) {
  const auto error = [](const Message& machine) {
    const auto results =
        RunModel(Classifier(machine, false).bytes(), Columns());
    return results.ok() ? "" : std::string(results.status().message());
  };
  EXPECT_NE(error(ThreeClasses().Doubles(6, {1, 2}))
                .find("rho: expected 3 values, found 5"),
            std::string::npos);
  EXPECT_NE(error(ThreeClasses().Doubles(7, {1, 2}))
                .find("probA: expected 3 values, found 2"),
            std::string::npos);
  EXPECT_NE(error(ThreeClasses().Integers(2, {4}))
                .find("rho: expected 6 values, found 3"),
            std::string::npos);
}

Message Neighbors(int64_t k, bool is_weighted, bool has_tree) {
  Message index = Message().Integer(1, 2);
  for (const Point& point : kVectors) {
    index.Put(2, Message().Floats(1, {static_cast<float>(point[0]),
                                      static_cast<float>(point[1])}));
  }
  index.Put(has_tree ? 110 : 100, Message()).Put(200, Message());
  return Message()
      .Put(1, index)
      .Integer(2, k)
      .Put(101, Message().Integers(1, {5, 6, 6, 5}))
      .Put(is_weighted ? 210 : 200, Message());
}

TEST(Neighbors, VotesOfTheNearest) {
  for (const bool is_weighted : {false, true}) {
    for (const int64_t k : {1, 3}) {
      Point labels, shares;
      for (const Point& row : kRows) {
        std::vector<std::pair<double, size_t>> nearest;
        for (size_t v = 0; v < kVectors.size(); ++v)
          nearest.push_back({Distance(row, kVectors[v]), v});
        std::sort(nearest.begin(), nearest.end());
        double five = 0, all = 0;
        for (size_t i = 0; i < static_cast<size_t>(k); ++i) {
          const double weight = is_weighted ? 1 / nearest[i].first : 1;
          all += weight;
          if (nearest[i].second == 0 || nearest[i].second == 3) five += weight;
        }
        labels.push_back(five >= all - five ? 5 : 6);
        shares.push_back(five / all);
        shares.push_back(1 - five / all);
      }
      const Message model =
          ModelOf(Description({DoubleFeature("a"), DoubleFeature("b")},
                              {DoubleFeature("label"), DoubleFeature("p")})
                      .Text(11, "label")
                      .Text(12, "p"),
                  404, Neighbors(k, is_weighted, k == 3));
      ExpectNumbers(RunModel(model.bytes(), Columns()),
                    {I64({4}, labels), F64({4, 2}, shares)});
    }
  }
}

TEST(Neighbors, SampleItselfAndNoSamples) {
  const Message description =
      Description({DoubleFeature("a"), DoubleFeature("b")},
                  {DoubleFeature("label")})
          .Text(11, "label");
  ExpectNumbers(
      RunModel(ModelOf(description, 404, Neighbors(4, true, false)).bytes(),
               {F64({1}, {-1}), F64({1}, {0.5})}),
      {I64({1}, {6})});
  const Message empty =
      Message().Put(1, Message().Integer(1, 2)).Integer(2, 1).Integer(111, 9);
  ExpectNumbers(RunModel(ModelOf(description, 404, empty).bytes(),
                         {F64({2}, {1, 2}), F64({2}, {3, 4})}),
                {I64({2}, {9, 9})});
}

TEST(Mapping, NumbersToTextsAndBack) {
  Message both;
  both.Put(1, Message().Integer(1, 4).Text(2, "four"))
      .Put(1, Message().Integer(1, 7).Text(2, "seven"));
  const Message to_texts =
      ModelOf(Description({DoubleFeature("a")}, {StringFeature("t")}), 606,
              Message().Put(2, both).Text(101, "unknown"));
  const auto named = RunTensors(to_texts.bytes(), {F64({3}, {7, 5, 4})});
  ASSERT_TRUE(named.ok()) << named.status().ToString();
  ExpectStrings((*named)[0], {3}, {"seven", "unknown", "four"});
  Message back;
  back.Put(1, Message().Text(1, "seven").Integer(2, 70))
      .Put(1, Message().Text(1, "unknown").Integer(2, -1));
  const Message to_numbers =
      ModelOf(Description({StringFeature("t")}, {DoubleFeature("y")}), 606,
              Message().Put(1, back).Integer(102, 99));
  const Message pipeline =
      ModelOf(Description({DoubleFeature("a")}, {DoubleFeature("y")}), 202,
              Message().Put(1, to_texts).Put(1, to_numbers));
  ExpectNumbers(RunModel(pipeline.bytes(), {F64({3}, {7, 5, 4})}),
                {I64({3}, {70, -1, 99})});
}

// The boxes are (x, y, width, height). Each box has scores for two classes.
const std::vector<Point> kBoxes = {
    {5, 5, 4, 4}, {5, 6, 4, 4}, {20, 5, 4, 4}, {5, 5.5, 4, 4}, {20, 5, 3, 4}};
const std::vector<Point> kScores = {
    {0.6, 0.1}, {0.2, 0.9}, {0.3, 0.2}, {0.7, 0.1}, {0.05, 0.25}};

double Overlap(const Point& a, const Point& b) {
  double shared = 1;
  for (const size_t i : {0, 1}) {
    const double low = std::max(a[i] - a[i + 2] / 2, b[i] - b[i + 2] / 2);
    const double high = std::min(a[i] + a[i + 2] / 2, b[i] + b[i + 2] / 2);
    shared *= std::max(high - low, 0.0);
  }
  return shared / (a[2] * a[3] + b[2] * b[3] - shared);
}

// Returns the numbers of the boxes that suppression keeps, by descending score:
// a box is dropped if it overlaps a better one.
std::vector<size_t> Kept(bool per_class, double overlap, double least) {
  const auto label = [](size_t i) { return kScores[i][1] > kScores[i][0]; };
  const auto best = [](size_t i) {
    return std::max(kScores[i][0], kScores[i][1]);
  };
  std::vector<size_t> order = {0, 1, 2, 3, 4}, kept;
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return best(a) > best(b); });
  for (const size_t i : order) {
    const bool fits = std::none_of(kept.begin(), kept.end(), [&](size_t other) {
      return (!per_class || label(i) == label(other)) &&
             Overlap(kBoxes[i], kBoxes[other]) > overlap;
    });
    if (static_cast<float>(best(i)) >= static_cast<float>(least) && fits)
      kept.push_back(i);
  }
  return kept;
}

TEST(Suppression, OfBoxes) {
  std::vector<double> scores, boxes;
  for (const Point& row : kScores)
    scores.insert(scores.end(), row.begin(), row.end());
  for (const Point& row : kBoxes)
    boxes.insert(boxes.end(), row.begin(), row.end());
  for (const bool per_class : {false, true}) {
    for (const double least : {0.0, 0.25, 0.3, 0.5}) {
      SCOPED_TRACE(std::to_string(per_class) + " " + std::to_string(least));
      const Message model =
          ModelOf(Description({coreml::ArrayFeature("s", {5, 2}),
                               coreml::ArrayFeature("b", {5, 4}),
                               DoubleFeature("least")},
                              {coreml::ArrayFeature("confidence", {}),
                               coreml::ArrayFeature("coordinates", {})}),
                  610,
                  Message()
                      .Put(1, Message().Integer(1, per_class ? 1 : 0))
                      .Double(110, 0.5)
                      .Double(111, 77)
                      .Text(200, "s")
                      .Text(201, "b")
                      .Text(203, "least")
                      .Text(210, "confidence")
                      .Text(211, "coordinates"));
      std::vector<double> kept_scores, kept_boxes;
      const std::vector<size_t> kept = Kept(per_class, 0.5, least);
      for (const size_t i : kept) {
        kept_scores.insert(kept_scores.end(), kScores[i].begin(),
                           kScores[i].end());
        kept_boxes.insert(kept_boxes.end(), kBoxes[i].begin(), kBoxes[i].end());
      }
      const auto count = static_cast<int64_t>(kept.size());
      ExpectNumbers(
          RunModel(model.bytes(), {F32({5, 2}, scores), F32({5, 4}, boxes),
                                   F64({1}, {least})}),
          {F32({count, 2}, kept_scores), F32({count, 4}, kept_boxes)});
    }
  }
}

Message DictionaryFeature(const std::string& name) {
  return Message().Text(1, name).Put(
      3, Message().Put(6, Message().Put(2, Message())));
}
Message VectorizerOf(const std::string& input,
                     const std::vector<std::string>& keys) {
  Message texts;
  for (const std::string& key : keys) texts.Text(1, key);
  return ModelOf(
      Description({DictionaryFeature(input)}, {coreml::ArrayFeature("y", {})}),
      603, Message().Put(1, texts));
}

TEST(Dictionaries, AreColumnsInTheOrderOfTheKeys) {
  ExpectNumbers(RunModel(VectorizerOf("d", {"a", "b", "c"}).bytes(),
                         {F64({2, 3}, {1, 2, 3, 4, 5, 6})}),
                {F32({2, 3}, {1, 2, 3, 4, 5, 6})});
  EXPECT_EQ(RunModel(VectorizerOf("d", {}).bytes(), {}).status().message(),
            "model 'model': input 'd': expected a dictionary whose keys a "
            "vectorizer of the model knows, found none");
}

TEST(Dictionaries, OfClassifiersFindTheirKeys) {
  const Message linear = Message()
                             .Put(1, Message().Doubles(1, {1}))
                             .Put(100, Message().Text(1, "cat").Text(1, "dog"));
  const Message classifier =
      ModelOf(Description({DoubleFeature("x")},
                          {StringFeature("label"), DictionaryFeature("p")})
                  .Text(11, "label")
                  .Text(12, "p"),
              400, linear);
  const std::string pipeline =
      ModelOf(
          Description({DoubleFeature("x")}, {coreml::ArrayFeature("y", {})}),
          202,
          Message()
              .Put(1, classifier)
              .Put(1, VectorizerOf("p", {"dog", "bird", "cat"})))
          .bytes();
  ExpectNumbers(RunModel(pipeline, {F64({1}, {std::log(3.0)})}),
                {F32({1, 3}, {0.75, 0, 0.25})});
}

}  // namespace
}  // namespace ember::tests
