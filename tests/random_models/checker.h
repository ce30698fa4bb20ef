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
  kEqualToEvaluator,  // equal to the evaluator; ONNX Runtime refused the model
  kExplained,         // a rule explains the difference; detail is its name
  // our engine refused the model; detail is the reason, without names and
  // numbers
  kRefusedByUs,
  kRefusedByBoth,
  // not compared: ONNX Runtime refused the model, and the evaluator cannot run
  // it
  kUnchecked,
  kWrong,  // wrong; detail is the difference, and where it is
};

struct Verdict {
  Outcome outcome = Outcome::kEqual;
  std::string detail;
  // The reason for which our engine refused the model with open dims. The model
  // was then checked without them.
  std::string open_refusal;
  // For kExplained: the difference that the rule explains.
  std::string difference;
};

struct CheckOptions {
  std::vector<int> tiers = {0, 2};
  bool passes = false;
};

class Checker {
 public:
  // Makes a checker. `ort` may be null: the evaluator alone is then the oracle.
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
    // description of a result that a pass changed; or empty
    std::string passes;
  };
  Ours RunOurs(const RandomModel& model);
  StatusOr<Verdict> Judge(const RandomModel& model, const Ours& ours,
                          const OrtResult* ort);
  Verdict JudgeByEvaluator(const RandomModel& model, const Ours& ours);

  Engine& engine_;
  OrtProcess* ort_;
  const CheckOptions options_;
};

// Returns the message without the parts that differ from model to model: names
// in quotes, numbers.
std::string Sanitized(const std::string& message);

// Writes a folder in the form that conformance reads: model.onnx,
// test_data_set_0 with inputs (and `results`, if there are any), and
// report.txt.
Status WriteFolder(const std::string& folder, const RandomModel& model,
                   const NamedTensors& results, const std::string& report);
StatusOr<RandomModel> ReadFolder(const std::string& folder);

}  // namespace ember::tests

#endif  // EMBER_TESTS_RANDOM_MODELS_CHECKER_H_
