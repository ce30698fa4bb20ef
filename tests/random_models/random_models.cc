// random-models: compares random ONNX models on our tiers with ONNX Runtime.
//
//   ./dev random-models --count=1000
//
// Child processes do the work, so that a crash or a hang is a finding and does
// not end the run. They write a line per model to a pipe.
#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/random_models/checker.h"
#include "tests/random_models/generator.h"
#include "tests/random_models/model_text.h"
#include "tools/lib/cli/flags.h"
#include "tools/lib/cli/paths.h"

namespace ember::tests {
namespace {

// Seconds of processor time that one model may take. Processor time does not
// run while other programs keep the machine busy.
constexpr int kModelSeconds = 120;
constexpr int64_t kModelsPerChild = 600;

struct Options {
  int64_t count = 1000;
  int64_t seed = 0;
  int64_t batch = 24;
  std::string oracle = "ort", device = "cpu", tiers = "0,2", open = "mixed";
  std::string only, keep = "/dev/shm/random_models", replay, script;
  int64_t most_nodes = 10;
  bool passes = false, shrink = true, save = false;
};

void Declare(Options& options, tools::Flags& flags) {
  flags.Add("count", &options.count, "N", "Runs N models.");
  flags.Add("seed", &options.seed, "S",
            "Seeds the first model; each next model's seed is one more. 0: "
            "a new seed, which is printed.");
  flags.AddChoice(
      "oracle", &options.oracle, {"ort", "evaluator"},
      "The program whose results count as right: ONNX Runtime, in a "
      "node process (ORT_DIR: the\n"
      "folder with its node_modules), or our evaluator alone.");
  flags.Add("tiers", &options.tiers, "LIST",
            "Runs these tiers: 0, 1 or 2, with commas between them.");
  flags.Add("device", &options.device, "NAME",
            "Runs tiers above 0 on this device; see vm-run.");
  flags.AddChoice("open", &options.open, {"none", "some", "all", "mixed"},
                  "Leaves these dims of inputs open; mixed: the seed decides.");
  flags.Add("nodes", &options.most_nodes, "N", "Limits a model to N recipes.");
  flags.Add("only", &options.only, "TEXT",
            "Uses only operators whose DOMAIN::NAME contains TEXT.");
  flags.Add("passes", &options.passes,
            "Also compares the graph before and after each pass.");
  flags.Add("shrink", &options.shrink, "Makes wrong models smaller.");
  flags.Add("keep", &options.keep, "DIR", "Writes findings to this folder.");
  flags.Add("save", &options.save,
            "Writes every model to KEEP/model_SEED, for --replay. A seed "
            "gives another model once the\n"
            "generator or tier 0 have changed.");
  flags.Add("replay", &options.replay, "DIR",
            "Runs the model of a finding again, and nothing else.");
  flags.Add("script", &options.script, "FILE",
            "The path of ort_batch.mjs, which ./dev finds beside the "
            "sources.");
  flags.Add("batch", &options.batch, "N", "Runs N models together.");
  flags.Example("random_models --count=1000 --open=all");
}

CheckOptions CheckOptionsOf(const Options& options) {
  CheckOptions check;
  check.tiers.clear();
  for (const char c : options.tiers)
    if (c >= '0' && c <= '2') check.tiers.push_back(c - '0');
  check.passes = options.passes;
  return check;
}

OpenDims OpenOf(const Options& options, uint64_t seed) {
  if (options.open == "none") return OpenDims::kNone;
  if (options.open == "some") return OpenDims::kSome;
  if (options.open == "all") return OpenDims::kAll;
  Random random(seed ^ 0x6d69786564);
  return random.Chance(0.6)   ? OpenDims::kNone
         : random.Chance(0.5) ? OpenDims::kSome
                              : OpenDims::kAll;
}

// --- functions of a child process
// ------------------------------------------------

// Ends this process if it uses this many seconds of processor time before the
// next call.
void LimitTime(int seconds) {
  const itimerval limit = {.it_interval = {}, .it_value = {seconds, 0}};
  setitimer(ITIMER_PROF, &limit, nullptr);
}

class Child {
 public:
  Child(const Options& options, FILE* out) : options_(options), out_(out) {}

  Status Run(uint64_t first, uint64_t count) {
    EMBER_ASSIGN_OR_RETURN(engine_, Engine::Open(options_.device));
    if (options_.oracle == "ort") {
      EMBER_ASSIGN_OR_RETURN(
          ort_, OrtProcess::Start({options_.script, options_.keep}));
    }
    Checker checker(*engine_, ort_.get(), CheckOptionsOf(options_));
    for (uint64_t done = 0; done < count;) {
      const uint64_t batch = std::min<uint64_t>(
          count - done, static_cast<uint64_t>(options_.batch));
      EMBER_RETURN_IF_ERROR(RunBatch(checker, first + done, batch));
      done += batch;
    }
    return OkStatus();
  }

  Status Replay(const std::string& folder) {
    EMBER_ASSIGN_OR_RETURN(engine_, Engine::Open(options_.device));
    if (options_.oracle == "ort") {
      EMBER_ASSIGN_OR_RETURN(
          ort_, OrtProcess::Start({options_.script, options_.keep}));
    }
    Checker checker(*engine_, ort_.get(), CheckOptionsOf(options_));
    EMBER_ASSIGN_OR_RETURN(const RandomModel model, ReadFolder(folder));
    EMBER_ASSIGN_OR_RETURN(const Verdict verdict, checker.CheckOne(model));
    std::printf(
        "%s\noutcome %d %s%s%s\n", ModelText(model.proto).c_str(),
        static_cast<int>(verdict.outcome), verdict.detail.c_str(),
        verdict.difference.empty() ? "" : (": " + verdict.difference).c_str(),
        verdict.open_refusal.empty()
            ? ""
            : ("; open: " + verdict.open_refusal).c_str());
    EMBER_ASSIGN_OR_RETURN(const std::string steps,
                           checker.ExplainBySteps(model));
    std::printf("by steps: '%s'\n", steps.c_str());
    EMBER_ASSIGN_OR_RETURN(const std::string blame, checker.BlamePasses(model));
    std::fputs(blame.c_str(), stdout);
    return OkStatus();
  }

 private:
  void Line(const char* kind, uint64_t seed, const std::string& text) {
    std::string one_line = text;
    std::replace(one_line.begin(), one_line.end(), '\n', ' ');
    std::fprintf(out_, "%s %llu %s\n", kind,
                 static_cast<unsigned long long>(seed), one_line.c_str());
    std::fflush(out_);
  }

  Status RunBatch(Checker& checker, uint64_t first, uint64_t count) {
    GeneratorOptions generator;
    generator.most_nodes = options_.most_nodes;
    generator.only = options_.only;
    std::vector<RandomModel> models;
    // For each model: "", or the name of the recipe whose nodes the engine
    // refused.
    std::vector<std::string> parts;
    for (uint64_t seed = first; seed < first + count; ++seed) {
      Line("start", seed, "");
      LimitTime(kModelSeconds);
      std::vector<Refused> refused;
      RandomModel model = GenerateModel(seed, generator, *engine_, &refused);
      if (model.proto.graph().output_size() > 0) {
        models.push_back(WithOpenDims(model, OpenOf(options_, seed)));
        parts.emplace_back();
      } else {
        Line("empty", seed, "");
      }
      for (Refused& part : refused) {
        models.push_back(std::move(part.model));
        parts.push_back(part.recipe);
      }
    }
    LimitTime(kModelSeconds * 3);
    EMBER_ASSIGN_OR_RETURN(const std::vector<Verdict> verdicts,
                           checker.Check(models));
    for (size_t i = 0; i < models.size(); ++i)
      EMBER_RETURN_IF_ERROR(Report(checker, models[i], verdicts[i], parts[i]));
    return OkStatus();
  }

  Status Report(Checker& checker, const RandomModel& model,
                const Verdict& verdict, const std::string& part) {
    const uint64_t seed = model.seed;
    if (options_.save && part.empty()) {
      EMBER_RETURN_IF_ERROR(WriteFolder(
          options_.keep + "/model_" + std::to_string(seed), model, {},
          verdict.detail + " " + verdict.difference + " | " +
              ModelText(model.proto) + "\n"));
    }
    if (!verdict.open_refusal.empty() && part.empty())
      Line("open_refused", seed, verdict.open_refusal);
    switch (verdict.outcome) {
      case Outcome::kEqual:
        Line(part.empty() ? "equal" : "part_equal", seed, "");
        break;
      case Outcome::kEqualToEvaluator:
        Line(part.empty() ? "evaluator" : "part_evaluator", seed,
             verdict.detail);
        break;
      case Outcome::kExplained:
        Line("explained", seed, verdict.detail);
        break;
      case Outcome::kRefusedByUs:
        EMBER_RETURN_IF_ERROR(WriteFolder(
            options_.keep + "/refused_" + std::to_string(seed), model, {},
            verdict.detail + " | " + ModelText(model.proto) + "\n"));
        Line(part.empty() ? "refused" : "part_refused", seed,
             part + " " + verdict.detail);
        break;
      case Outcome::kRefusedByBoth:
        Line("both_refused", seed, part + " " + verdict.detail);
        break;
      case Outcome::kUnchecked:
        Line("unchecked", seed, verdict.detail);
        break;
      case Outcome::kWrong:
        return ReportWrong(checker, model, verdict);
    }
    return OkStatus();
  }

  Status ReportWrong(Checker& checker, const RandomModel& model,
                     const Verdict& verdict) {
    LimitTime(kModelSeconds * 3);
    // The rule that explains the differences of all results. Each result is
    // judged by itself, in a model that has only this output, and so with other
    // random perturbations.
    std::string rule;
    for (const onnx::ValueInfoProto& output : model.proto.graph().output()) {
      RandomModel alone = model;
      auto& outputs = *alone.proto.mutable_graph()->mutable_output();
      outputs.Clear();
      *outputs.Add() = output;
      RemoveDeadNodes(alone);
      EMBER_ASSIGN_OR_RETURN(const Verdict part, checker.CheckOne(alone));
      if (part.outcome == Outcome::kExplained) rule = part.detail;
      if (part.outcome == Outcome::kWrong) {
        rule.clear();
        break;
      }
    }
    if (!rule.empty()) {
      Line("explained", model.seed, rule);
      return OkStatus();
    }
    RandomModel small = model;
    if (options_.shrink) {
      EMBER_ASSIGN_OR_RETURN(small, checker.Shrink(model, verdict.detail));
    }
    const std::string folder =
        options_.keep + "/seed_" + std::to_string(model.seed);
    NamedTensors results;
    if (ort_ != nullptr) {
      EMBER_ASSIGN_OR_RETURN(const std::vector<OrtResult> ort,
                             ort_->Run({&small}));
      results = ort[0].results;
    }
    EMBER_ASSIGN_OR_RETURN(const Verdict now, checker.CheckOne(small));
    if (now.outcome == Outcome::kExplained) {
      // A rule explains the difference that remains in the shrunk model, so the
      // finding counts as explained.
      Line("explained", model.seed, now.detail + " when shrunk");
      return OkStatus();
    }
    const onnx::GraphProto& left = small.proto.graph();
    if (left.node_size() == 1 &&
        left.node(0).op_type().rfind("QLinear", 0) == 0 &&
        now.detail.find("differ, by up to 1 ") != std::string::npos) {
      // Quantized values may differ by one step: for these operators ONNX
      // Runtime uses tables, or multiplies by rounded quotients of scales.
      Line("explained", model.seed, "one step of a quantized value");
      return OkStatus();
    }
    if (now.detail.rfind("tier ", 0) == 0) {
      EMBER_ASSIGN_OR_RETURN(const std::string steps,
                             checker.ExplainBySteps(small));
      if (!steps.empty()) {
        Line("explained", model.seed, steps);
        return OkStatus();
      }
    }
    const std::string text = now.detail + " | " + ModelText(small.proto);
    EMBER_RETURN_IF_ERROR(WriteFolder(folder, small, results,
                                      text + "\nunshrunk: " + verdict.detail +
                                          " | " + ModelText(model.proto) +
                                          "\n"));
    Line("wrong", model.seed, text + " | random_models --replay=" + folder);
    return OkStatus();
  }

  const Options& options_;
  FILE* out_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<OrtProcess> ort_;
};

// --- functions of the parent process
// ---------------------------------------------

struct Totals {
  int64_t models = 0;
  // Number of models for each kind of verdict.
  std::map<std::string, int64_t> counts;
  // For each pair of a kind of verdict and a reason: the number of models, and
  // the seed of one of them.
  std::map<std::pair<std::string, std::string>, std::pair<int64_t, uint64_t>>
      reasons;
};

constexpr std::string_view kReasoned[] = {
    "explained",    "refused",   "part_refused", "open_refused",
    "both_refused", "unchecked", "evaluator"};

// SIGINT and SIGTERM end a long run, and the counts so far are printed.
volatile sig_atomic_t was_stopped = 0;
volatile pid_t running_child = 0;

void Stop(int) {
  was_stopped = 1;
  if (running_child > 0) kill(running_child, SIGKILL);
}

void HandleStops(void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  for (const int signal : {SIGINT, SIGTERM})
    sigaction(signal, &action, nullptr);
}

// Runs a child for the seeds. Returns the first seed that it did not finish, or
// `first + count` if it finished all.
uint64_t RunChild(const Options& options, uint64_t first, uint64_t count,
                  Totals& totals) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) std::abort();
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    HandleStops(SIG_DFL);
    close(ends[0]);
    FILE* out = fdopen(ends[1], "w");
    const Status status = Child(options, out).Run(first, count);
    if (!status.ok()) {
      std::fprintf(stderr, "random_models: %s\n", status.ToString().c_str());
      std::fflush(nullptr);
      _exit(3);
    }
    std::fflush(nullptr);
    _exit(0);
  }
  running_child = child;
  if (was_stopped != 0) kill(child, SIGKILL);
  close(ends[1]);
  FILE* in = fdopen(ends[0], "r");
  char* line = nullptr;
  size_t size = 0;
  uint64_t last = first;
  while (getline(&line, &size, in) > 0) {
    char kind[32];
    unsigned long long seed = 0;
    int at = 0;
    if (std::sscanf(line, "%31s %llu %n", kind, &seed, &at) < 2) continue;
    std::string text = line + at;
    while (!text.empty() && text.back() == '\n') text.pop_back();
    if (kind == std::string("start")) {
      last = seed;
      continue;
    }
    if (std::string(kind).rfind("part_", 0) != 0 &&
        kind != std::string("open_refused") &&
        kind != std::string("both_refused"))
      ++totals.models;
    ++totals.counts[kind];
    if (kind == std::string("wrong")) {
      std::printf("WRONG seed %llu: %s\n", seed, text.c_str());
      std::fflush(stdout);
    }
    for (const std::string_view reasoned : kReasoned) {
      if (kind != reasoned) continue;
      auto& [times, example] = totals.reasons[{kind, text}];
      if (times++ == 0) example = seed;
    }
  }
  std::free(line);
  fclose(in);
  int status = 0;
  running_child = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (was_stopped != 0) return first + count;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return first + count;
  // If the child ended with an error (not a crash) of its first model, the
  // whole run stops, because all further children would end with the same
  // error.
  if (WIFEXITED(status) && WEXITSTATUS(status) == 3 && last == first)
    std::exit(1);
  ++totals.counts["crash"];
  std::printf(
      "CRASH seed %llu (or up to %lld before it): %s %d | "
      "random_models --seed=%llu --count=1\n",
      static_cast<unsigned long long>(last),
      static_cast<long long>(options.batch),
      WIFSIGNALED(status) ? "signal" : "exit status",
      WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status),
      static_cast<unsigned long long>(last));
  std::fflush(stdout);
  return last + 1;
}

Status Run(Options options, bool& is_right) {
  if (options.script.empty() && std::getenv("EMBER_ORT_BATCH") != nullptr)
    options.script = std::getenv("EMBER_ORT_BATCH");
  if (options.script.empty() && options.oracle == "ort")
    return InvalidArgumentError("--script: expected ort_batch.mjs");
  options.keep = tools::UserPath(options.keep);
  std::error_code error;
  std::filesystem::create_directories(options.keep, error);
  if (!options.replay.empty())
    return Child(options, stdout).Replay(tools::UserPath(options.replay));
  auto first = static_cast<uint64_t>(options.seed);
  if (first == 0) first = std::random_device()() % 1000000000 + 1;
  std::printf("seed %llu\n", static_cast<unsigned long long>(first));
  std::fflush(stdout);
  const auto start = std::chrono::steady_clock::now();
  Totals totals;
  const uint64_t end = first + static_cast<uint64_t>(options.count);
  HandleStops(Stop);
  for (uint64_t seed = first; seed < end && was_stopped == 0;)
    seed = RunChild(options, seed,
                    std::min<uint64_t>(end - seed, kModelsPerChild), totals);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  std::vector<std::pair<int64_t, std::string>> lines;
  for (const auto& [key, value] : totals.reasons) {
    lines.emplace_back(value.first, key.first + ": " + key.second + " (seed " +
                                        std::to_string(value.second) + ")");
  }
  std::sort(lines.rbegin(), lines.rend());
  for (const auto& [times, text] : lines)
    std::printf("%7lld %s\n", static_cast<long long>(times), text.c_str());
  std::printf("%lld models from seed %llu in %.0f s (%.1f ms each):",
              static_cast<long long>(totals.models),
              static_cast<unsigned long long>(first), seconds,
              1000 * seconds /
                  static_cast<double>(std::max<int64_t>(totals.models, 1)));
  for (const auto& [kind, times] : totals.counts)
    std::printf(" %s %lld;", kind.c_str(), static_cast<long long>(times));
  std::printf(" wrong %lld\n", static_cast<long long>(totals.counts["wrong"]));
  is_right = totals.counts["wrong"] == 0 && totals.counts["crash"] == 0;
  return OkStatus();
}

}  // namespace
}  // namespace ember::tests

int main(int argc, char** argv) {
  ember::tests::Options options;
  ember::tools::Flags flags(
      "random_models", "[flags]",
      "Runs random ONNX models on our tiers, beside ONNX Runtime. Stopped by "
      "Ctrl-C, it prints what it has counted.");
  ember::tests::Declare(options, flags);
  bool is_right = true;
  const int code = ember::tools::RunTool(
      argc, argv, flags, [&] { return ember::tests::Run(options, is_right); });
  return code == 0 && !is_right ? 1 : code;
}
