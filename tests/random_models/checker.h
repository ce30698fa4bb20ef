// Runs random models on our engine and on ONNX Runtime (or the evaluator), and
// says of each what came of it.
//
//   Checker checker(engine, ort, options);
//   std::vector<Verdict> verdicts = checker.Check(models);
//
// Not thread-safe.
#ifndef EMBER_TESTS_RANDOM_MODELS_CHECKER_H_
#define EMBER_TESTS_RANDOM_MODELS_CHECKER_H_

#include <string>
#include <vector>

#include "base/status.h"
#include "tests/random_models/model.h"
#include "tests/random_models/ort_process.h"
#include "tests/random_models/run_ours.h"

namespace ember::tests {

enum class Outcome : uint8_t {
  kEqual,
  kEqualToEvaluator,  // ONNX Runtime refused the model
  kExplained,         // detail: the rule
  kRefusedByUs,       // detail: the reason, without names and numbers
  kRefusedByBoth,
  kUnchecked,  // ONNX Runtime refused it, and the evaluator cannot run it
  kWrong,      // detail: what differs, and where
};

struct Verdict {
  Outcome outcome = Outcome::kEqual;
  std::string detail;
  // Of a model that was refused with open dims and then checked without them.
  std::string open_refusal;
  // What kExplained is about.
  std::string difference;
};

struct CheckOptions {
  std::vector<int> tiers = {0, 2};
  bool passes = false;
};

class Checker {
 public:
  // ort: null: the evaluator alone is the oracle.
  Checker(Engine& engine, OrtProcess* ort, CheckOptions options)
      : engine_(engine), ort_(ort), options_(std::move(options)) {}

  StatusOr<std::vector<Verdict>> Check(const std::vector<RandomModel>& models);
  StatusOr<Verdict> CheckOne(const RandomModel& model);

  // "steps" if each node of the (shrunk) model has ONNX Runtime's results when
  // it has ONNX Runtime's operands, and one of them is a step, such as TopK:
  // the difference is between values that rounding makes equal or not, as the
  // two halves of a spectrum are. "" otherwise.
  StatusOr<std::string> ExplainBySteps(const RandomModel& model);

  // For people: which pass, left out, makes a wrong result right.
  StatusOr<std::string> BlamePasses(const RandomModel& model);

  // The smallest model found that is still wrong: outputs, nodes and dims
  // that are not needed for that are dropped.
  StatusOr<RandomModel> Shrink(const RandomModel& model,
                               const std::string& detail);

 private:
  // What our engine makes of it: one list of results per tier.
  struct Ours {
    Status refused;  // import or compilation
    std::string open_refusal;
    std::vector<StatusOr<NamedTensors>> results;
    std::string passes;  // what a pass changed
  };
  Ours RunOurs(const RandomModel& model);
  StatusOr<Verdict> Judge(const RandomModel& model, const Ours& ours,
                          const OrtResult* ort);
  Verdict JudgeByEvaluator(const RandomModel& model, const Ours& ours);

  Engine& engine_;
  OrtProcess* ort_;
  const CheckOptions options_;
};

// The text without what differs from model to model: names in quotes, numbers.
std::string Sanitized(const std::string& message);

// A folder as conformance reads it: model.onnx, test_data_set_0 with inputs
// (and `results`, if there are any), and report.txt.
Status WriteFolder(const std::string& folder, const RandomModel& model,
                   const NamedTensors& results, const std::string& report);
StatusOr<RandomModel> ReadFolder(const std::string& folder);

}  // namespace ember::tests

#endif  // EMBER_TESTS_RANDOM_MODELS_CHECKER_H_
