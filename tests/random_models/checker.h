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
  // Our results equal the evaluator's. ONNX Runtime refused the model.
  kEqualToEvaluator,
  // The results differ, but a rule (judge.h) explains why. `detail` is the
  // rule's name.
  kExplained,
  // Our engine refused the model. `detail` is the reason, without names and
  // numbers.
  kRefusedByUs,
  kRefusedByBoth,
  // The results were not compared: ONNX Runtime refused the model, and the
  // evaluator cannot run it.
  kUnchecked,
  kWrong,  // Our results are wrong. `detail` says what differs and where.
};

struct Verdict {
  Outcome outcome = Outcome::kEqual;
  std::string detail;
  // Reason for which our engine refused the model with open dims; "" if it
  // accepted them. After a refusal the model is checked with fixed dims.
  std::string open_refusal;
  // For kExplained: a text of the difference that the rule explains.
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

  // Looks for a node whose result jumps, such as TopK, in a (shrunk) model.
  // Returns "steps" if there is one and each node gives ONNX Runtime's results
  // when it gets ONNX Runtime's operands: then rounding alone decides the
  // difference, for example which values are equal. Otherwise returns "".
  StatusOr<std::string> ExplainBySteps(const RandomModel& model);

  // Returns a text that names the pass without which the wrong result becomes
  // right.
  StatusOr<std::string> BlamePasses(const RandomModel& model);

  // Returns the smallest model found that is still wrong. Outputs, nodes and
  // dims that are not needed for the wrong result are dropped.
  StatusOr<RandomModel> Shrink(const RandomModel& model,
                               const std::string& detail);

 private:
  // The outcome of our engine for a model, with one list of results for each
  // tier.
  struct Ours {
    // Error with which our engine refused to import or compile the model.
    Status refused;
    std::string open_refusal;
    std::vector<StatusOr<NamedTensors>> results;
    // Description of a result that a pass changed; "" if no pass did.
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
