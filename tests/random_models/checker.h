// Runs random models on our engine and on ONNX Runtime (or the evaluator), and
// gives a verdict on each.
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
  kExplained,         // detail: the name of the rule
  kRefusedByUs,       // detail: the reason, without names and numbers
  kRefusedByBoth,
  kUnchecked,  // ONNX Runtime refused it, and the evaluator cannot run it
  kWrong,      // detail: the difference, and where it is
};

struct Verdict {
  Outcome outcome = Outcome::kEqual;
  std::string detail;
  // The refusal of a model with open dims that was then checked without them.
  std::string open_refusal;
  // The difference that kExplained explains.
  std::string difference;
};

struct CheckOptions {
  std::vector<int> tiers = {0, 2};
  bool passes = false;
};

class Checker {
 public:
  // `ort` may be null: the evaluator alone is then the oracle.
  Checker(Engine& engine, OrtProcess* ort, CheckOptions options)
      : engine_(engine), ort_(ort), options_(std::move(options)) {}

  StatusOr<std::vector<Verdict>> Check(const std::vector<RandomModel>& models);
  StatusOr<Verdict> CheckOne(const RandomModel& model);

  // Returns "steps" if each node of the (shrunk) model gives ONNX Runtime's
  // results for ONNX Runtime's operands, and one of them is a step, such as
  // TopK. Then rounding decides which values are equal, as in the two halves of
  // a spectrum. Otherwise "".
  StatusOr<std::string> ExplainBySteps(const RandomModel& model);

  // Returns text for people: the pass without which a wrong result becomes
  // right.
  StatusOr<std::string> BlamePasses(const RandomModel& model);

  // Returns the smallest model found that is still wrong. It drops outputs,
  // nodes and dims that this does not need.
  StatusOr<RandomModel> Shrink(const RandomModel& model,
                               const std::string& detail);

 private:
  // The outcome of our engine: one list of results per tier.
  struct Ours {
    Status refused;  // error of import or compilation
    std::string open_refusal;
    std::vector<StatusOr<NamedTensors>> results;
    std::string passes;  // describes a result that a pass changed
  };
  Ours RunOurs(const RandomModel& model);
  StatusOr<Verdict> Judge(const RandomModel& model, const Ours& ours,
                          const OrtResult* ort);
  Verdict JudgeByEvaluator(const RandomModel& model, const Ours& ours);

  Engine& engine_;
  OrtProcess* ort_;
  const CheckOptions options_;
};

// Returns the text without the parts that differ from model to model: names in
// quotes, numbers.
std::string Sanitized(const std::string& message);

// Writes a folder in the form that conformance reads: model.onnx,
// test_data_set_0 with inputs (and `results`, if there are any), and
// report.txt.
Status WriteFolder(const std::string& folder, const RandomModel& model,
                   const NamedTensors& results, const std::string& report);
StatusOr<RandomModel> ReadFolder(const std::string& folder);

}  // namespace ember::tests

#endif  // EMBER_TESTS_RANDOM_MODELS_CHECKER_H_
