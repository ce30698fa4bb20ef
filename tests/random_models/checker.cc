#include "tests/random_models/checker.h"

#include <utility>

#include "tests/random_models/generator.h"
#include "tests/random_models/judge.h"

namespace ember::tests {
namespace {

bool HasOpenDims(const RandomModel& model) {
  for (const onnx::ValueInfoProto& input : model.proto.graph().input())
    for (const auto& dim : input.type().tensor_type().shape().dim())
      if (dim.has_dim_param()) return true;
  return false;
}

// Returns the model with all dims fixed: open dims are replaced by those of the
// inputs on which the model runs.
RandomModel WithFixedDims(const RandomModel& model) {
  RandomModel result = model;
  for (onnx::ValueInfoProto& input :
       *result.proto.mutable_graph()->mutable_input()) {
    for (const auto& [name, tensor] : model.inputs) {
      if (name != input.name()) continue;
      auto& shape =
          *input.mutable_type()->mutable_tensor_type()->mutable_shape();
      for (int i = 0; i < shape.dim_size(); ++i)
        shape.mutable_dim(i)->set_dim_value(
            tensor.dims[static_cast<size_t>(i)]);
    }
  }
  return result;
}

}  // namespace

std::string Sanitized(const std::string& message) {
  std::string result;
  bool is_quoted = false;
  for (const char c : message) {
    if (c == '\'') {
      if (!is_quoted) result += "'…'";
      is_quoted = !is_quoted;
    } else if (!is_quoted && c >= '0' && c <= '9') {
      if (result.empty() || result.back() != '#') result += '#';
    } else if (!is_quoted) {
      result += c == '\n' ? ' ' : c;
    }
  }
  return result.substr(0, 200);
}

Checker::Ours Checker::RunOurs(const RandomModel& model) {
  Ours ours;
  StatusOr<std::shared_ptr<const vm::Module>> module =
      Engine::Compile(model.proto);
  if (!module.ok() && HasOpenDims(model)) {
    ours.open_refusal = Sanitized(std::string(module.status().message()));
    module = Engine::Compile(WithFixedDims(model).proto);
  }
  if (!module.ok()) {
    ours.refused = module.status();
    return ours;
  }
  for (const int tier : options_.tiers)
    ours.results.push_back(engine_.Run(*module, model.inputs, tier));
  // The run failed because open dims that the compiler assumed to be equal are
  // not equal.
  if (ours.open_refusal.empty() && HasOpenDims(model)) {
    for (const StatusOr<NamedTensors>& results : ours.results) {
      if (results.ok() || results.status().message().find(" must be ") ==
                              std::string_view::npos)
        continue;
      Ours fixed = RunOurs(WithFixedDims(model));
      fixed.open_refusal =
          "at run time: " + Sanitized(std::string(results.status().message()));
      return fixed;
    }
  }
  if (options_.passes) {
    const StatusOr<std::string> passes = ComparePasses(
        engine_, ours.open_refusal.empty() ? model : WithFixedDims(model));
    ours.passes =
        passes.ok() ? *passes : std::string(passes.status().message());
  }
  return ours;
}

Verdict Checker::JudgeByEvaluator(const RandomModel& model, const Ours& ours) {
  const onnx::ModelProto proto = WithFixedDims(model).proto;
  // The evaluator cannot run all operators. In that case the module, compiled
  // without passes and fusion, is run on tier 0 instead.
  const auto run = [&](const onnx::ModelProto& fixed,
                       const NamedTensors& inputs) -> StatusOr<NamedTensors> {
    StatusOr<NamedTensors> results = EvaluateModel(fixed, inputs);
    if (results.ok()) return results;
    EMBER_ASSIGN_OR_RETURN(const auto module,
                           Engine::Compile(fixed, Engine::AllPasses()));
    return engine_.Run(module, inputs, 0);
  };
  const StatusOr<NamedTensors> want = run(proto, model.inputs);
  if (!want.ok())
    return {
        ours.results[0].ok() ? Outcome::kUnchecked : Outcome::kRefusedByBoth,
        Sanitized(std::string(want.status().message())), ours.open_refusal};
  for (size_t i = 0; i < options_.tiers.size(); ++i) {
    const std::string tier = "tier " + std::to_string(options_.tiers[i]) + ": ";
    if (!ours.results[i].ok())
      return {Outcome::kWrong,
              tier + std::string(ours.results[i].status().message()),
              ours.open_refusal};
    const std::string difference = Difference(*ours.results[i], *want);
    if (difference.empty()) continue;
    const auto run_moved = [&](const RandomModel& moved) {
      return run(WithFixedDims(moved).proto, moved.inputs);
    };
    const std::string rule =
        IsLessExact(run_moved, model, *ours.results[i], *want)  ? "less exact"
        : IsUnstable(run_moved, model, *ours.results[i], *want) ? "unstable"
                                                                : "";
    return {rule.empty() ? Outcome::kWrong : Outcome::kExplained,
            rule.empty() ? tier + difference + " (the evaluator's)" : rule,
            ours.open_refusal, tier + difference};
  }
  return {Outcome::kEqualToEvaluator, "", ours.open_refusal};
}

StatusOr<Verdict> Checker::Judge(const RandomModel& model, const Ours& ours,
                                 const OrtResult* ort) {
  const bool ort_ran = ort != nullptr && ort->outcome == OrtResult::kResults;
  if (!ours.refused.ok()) {
    return Verdict{ort_ran || ort == nullptr ? Outcome::kRefusedByUs
                                             : Outcome::kRefusedByBoth,
                   Sanitized(std::string(ours.refused.message())),
                   ours.open_refusal};
  }
  for (const StatusOr<NamedTensors>& results : ours.results) {
    // The run failed because the compiler assumed extents that depend on data
    // to be equal, but one of them is 1.
    if (!results.ok() &&
        results.status().message().find("dim _") != std::string_view::npos)
      return Verdict{
          Outcome::kRefusedByUs,
          "at run time: " + Sanitized(std::string(results.status().message())),
          ours.open_refusal};
  }
  if (!ours.passes.empty() && ours.results[0].ok())
    return Verdict{Outcome::kWrong, ours.passes, ours.open_refusal};
  if (!ort_ran) {
    Verdict verdict = JudgeByEvaluator(model, ours);
    if (ort != nullptr && verdict.outcome != Outcome::kWrong)
      verdict.detail = Sanitized(ort->message);
    return verdict;
  }
  for (size_t i = 0; i < options_.tiers.size(); ++i) {
    const std::string tier = "tier " + std::to_string(options_.tiers[i]) + ": ";
    if (!ours.results[i].ok())
      return Verdict{Outcome::kWrong,
                     tier + std::string(ours.results[i].status().message()),
                     ours.open_refusal};
    const std::string difference = Difference(*ours.results[i], ort->results);
    if (difference.empty()) continue;
    EMBER_ASSIGN_OR_RETURN(
        const std::string rule,
        Explain(*ort_, model, *ours.results[i], ort->results));
    if (!rule.empty())
      return Verdict{Outcome::kExplained, rule, ours.open_refusal,
                     tier + difference};
    const Verdict by_evaluator = JudgeByEvaluator(model, ours);
    const std::string whose = by_evaluator.outcome == Outcome::kEqualToEvaluator
                                  ? " (the evaluator gives ours)"
                              : by_evaluator.outcome == Outcome::kWrong
                                  ? " (the evaluator does not give ours)"
                                  : "";
    return Verdict{Outcome::kWrong, tier + difference + whose,
                   ours.open_refusal};
  }
  return Verdict{Outcome::kEqual, "", ours.open_refusal};
}

StatusOr<std::vector<Verdict>> Checker::Check(
    const std::vector<RandomModel>& models) {
  std::vector<const RandomModel*> pointers;
  for (const RandomModel& model : models) pointers.push_back(&model);
  // ONNX Runtime runs the models at the same time as Ember does.
  if (ort_ != nullptr) EMBER_RETURN_IF_ERROR(ort_->Send(pointers));
  std::vector<Ours> ours;
  for (const RandomModel& model : models) ours.push_back(RunOurs(model));
  std::vector<OrtResult> ort;
  if (ort_ != nullptr) {
    EMBER_ASSIGN_OR_RETURN(ort, ort_->Receive());
  }
  std::vector<Verdict> verdicts;
  for (size_t i = 0; i < models.size(); ++i) {
    EMBER_ASSIGN_OR_RETURN(
        Verdict verdict,
        Judge(models[i], ours[i], ort_ != nullptr ? &ort[i] : nullptr));
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

StatusOr<std::string> Checker::BlamePasses(const RandomModel& model) {
  const onnx::ModelProto proto = WithFixedDims(model).proto;
  StatusOr<NamedTensors> want = EvaluateModel(proto, model.inputs);
  if (ort_ != nullptr) {
    EMBER_ASSIGN_OR_RETURN(std::vector<OrtResult> ort, ort_->Run({&model}));
    if (ort[0].outcome == OrtResult::kResults) want = ort[0].results;
  }
  if (!want.ok()) return want.status();
  std::string text;
  const auto attempt = [&](const std::set<std::string>& disabled,
                           const std::string& name) {
    const auto module = Engine::Compile(proto, disabled);
    if (!module.ok()) return;
    for (const int tier : options_.tiers) {
      const auto got = engine_.Run(*module, model.inputs, tier);
      text += name + ", tier " + std::to_string(tier) + ": " +
              (got.ok() ? Difference(*got, *want)
                        : std::string(got.status().message())) +
              "\n";
    }
  };
  attempt({}, "all passes");
  attempt(Engine::AllPasses(), "no pass");
  for (const std::string& pass : Engine::AllPasses())
    attempt({pass}, "without " + pass);
  return text;
}

StatusOr<Verdict> Checker::CheckOne(const RandomModel& model) {
  std::vector<RandomModel> models = {model};
  EMBER_ASSIGN_OR_RETURN(const std::vector<Verdict> verdicts, Check(models));
  return verdicts[0];
}

}  // namespace ember::tests
