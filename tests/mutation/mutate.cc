// Loads and runs every damaged copy of module files on tiers 0, 1 and 2, and
// prints the outcomes: a line per module and tier. Exit status 1 if a copy
// crashed, hung, ended differently from tier 0 or was an internal error. Such
// files are kept, with a line that says how to run them again.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "tests/mutation/mutants.h"
#include "tests/mutation/supervised.h"
#include "tests/mutation/try_module.h"
#include "tools/lib/cli/flags.h"
#include "tools/lib/cli/paths.h"
#include "tools/lib/report/table.h"

namespace ember::tests {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> files;
  std::string tiers = "0,1,2", device = "cpu", keep = "mutants", format = "md";
  int64_t every = 1, first = 0, most_bytes_for_bits = 4096;
  int64_t cases_per_worker = 5000;
  double cpu_seconds = 20;
  bool as_is = false, results = false;
};

std::span<const uint8_t> BytesOf(const std::string& contents) {
  return {reinterpret_cast<const uint8_t*>(contents.data()), contents.size()};
}

StatusOr<std::vector<int>> ParseTiers(const std::string& text) {
  std::vector<int> tiers;
  for (const char c : text) {
    if (c >= '0' && c <= '2') tiers.push_back(c - '0');
  }
  if (tiers.empty() || text.size() != 2 * tiers.size() - 1) {
    return InvalidArgumentError(
        "--tiers: expected tiers of 0, 1 and 2, as 0,2, found '" + text + "'");
  }
  return tiers;
}

// Returns the file's name without folder and ending, such as "model" for
// "/a/model.vmfb".
std::string NameOf(const std::string& path) {
  return fs::path(path).stem().string();
}

class Mutator {
 public:
  explicit Mutator(const Options& options)
      : options_(options),
        table_({"module", "tier", "bytes", "mutants", "ran", "refused", "limit",
                "failed", "internal", "differs", "crashed", "timed out"}) {}

  Status Run();

 private:
  SupervisedOptions Supervision() const {
    SupervisedOptions supervised;
    supervised.cpu_seconds = options_.cpu_seconds;
    supervised.cases_per_worker = options_.cases_per_worker;
#ifndef EMBER_SANITIZER
    supervised.address_space = int64_t{8} << 30;
#endif
    return supervised;
  }
  Status TryFile(const std::string& path, int tier);
  Status TryAsItIs(const std::string& path, int tier);
  Status Keep(const std::string& path, int tier, const MutantList& mutants,
              const Finding& finding);
  void AddRow(const std::string& name, int tier, int64_t bytes,
              const SupervisedReport& report);

  const Options options_;
  tools::Table table_;
  // Outcomes of the mutants of all modules together, for each tier.
  std::map<int, SupervisedReport> totals_;
  int64_t findings_ = 0;
};

void Mutator::AddRow(const std::string& name, int tier, int64_t bytes,
                     const SupervisedReport& report) {
  std::vector<tools::Cell> cells = {name, static_cast<int64_t>(tier), bytes};
  int64_t tried = 0;
  for (int i = 1; i < kOutcomeCount; ++i)
    tried += report[static_cast<ChildOutcome>(i)];
  cells.emplace_back(tried);
  for (int i = 1; i < kOutcomeCount; ++i)
    cells.emplace_back(report[static_cast<ChildOutcome>(i)]);
  table_.AddRow(std::move(cells));
}

Status Mutator::Keep(const std::string& path, int tier,
                     const MutantList& mutants, const Finding& finding) {
  const std::string folder = tools::UserPath(options_.keep);
  std::error_code error;
  fs::create_directories(folder, error);
  const Mutant mutant = mutants.Make(finding.number);
  const std::string file = folder + "/" + NameOf(path) + ".tier" +
                           std::to_string(tier) + "." +
                           std::to_string(finding.number) + ".vmfb";
  std::printf(
      "%s, tier %d, mutant %lld (%s): %s: %s; again: mutate --as-is "
      "--device=%s --tiers=%d %s\n",
      NameOf(path).c_str(), tier, static_cast<long long>(finding.number),
      mutant.description.c_str(),
      std::string(OutcomeName(finding.outcome)).c_str(), finding.how.c_str(),
      options_.device.c_str(), tier, file.c_str());
  return WriteFileAtomically(
      file,
      {reinterpret_cast<const char*>(mutant.file.data()), mutant.file.size()});
}

Status Mutator::TryFile(const std::string& path, int tier) {
  EMBER_ASSIGN_OR_RETURN(const std::string file,
                         ReadFile(tools::UserPath(path)));
  const std::span<const uint8_t> bytes = BytesOf(file);
  // The undamaged module must load; otherwise all mutants would be refused for
  // the same reason.
  const Status loads = vm::Module::Load(bytes, nullptr).status();
  if (!loads.ok()) return loads.WithContext(path);
  const MutantList mutants(bytes, options_.most_bytes_for_bits);
  const SupervisedReport report = RunSupervised(
      {options_.first, mutants.size(), options_.every}, Supervision(), [&] {
        auto made =
            ModuleTrier::Create({tier, options_.results, options_.device});
        if (!made.ok()) {
          std::fprintf(stderr, "%s\n", made.status().ToString().c_str());
          std::exit(3);
        }
        const std::shared_ptr<ModuleTrier> trier = *std::move(made);
        const std::optional<uint64_t> seed = trier->Prepare(bytes);
        if (!seed) {
          std::fprintf(stderr, "%s: tier %d: no inputs with which it runs\n",
                       path.c_str(), tier);
          std::exit(3);
        }
        return [&mutants, trier, seed](int64_t number) {
          const Mutant mutant = mutants.Make(number);
          if (mutant.is_original) return ChildOutcome::kSame;
          return trier->Try(mutant.file, *seed);
        };
      });
  AddRow(NameOf(path), tier, static_cast<int64_t>(bytes.size()), report);
  totals_[tier].Add(report);
  std::fprintf(stderr, "%s, tier %d: done\n", NameOf(path).c_str(), tier);
  for (const Finding& finding : report.findings) {
    ++findings_;
    EMBER_RETURN_IF_ERROR(Keep(path, tier, mutants, finding));
  }
  std::fflush(stdout);
  return OkStatus();
}

// Runs the file in this process, so that a debugger or a sanitizer shows more.
Status Mutator::TryAsItIs(const std::string& path, int tier) {
  EMBER_ASSIGN_OR_RETURN(const std::string file,
                         ReadFile(tools::UserPath(path)));
  EMBER_ASSIGN_OR_RETURN(
      const std::unique_ptr<ModuleTrier> trier,
      ModuleTrier::Create({tier, /*compares_results=*/true, options_.device}));
  for (uint64_t seed = 0; seed < 4; ++seed) {
    Status status;
    const ChildOutcome outcome = trier->Try(BytesOf(file), seed, &status);
    std::printf("%s, tier %d, inputs %d: %s: %s\n", NameOf(path).c_str(), tier,
                static_cast<int>(seed),
                std::string(OutcomeName(outcome)).c_str(),
                status.ToString().c_str());
    findings_ += IsFinding(outcome);
  }
  return OkStatus();
}

Status Mutator::Run() {
  EMBER_ASSIGN_OR_RETURN(const std::vector<int> tiers,
                         ParseTiers(options_.tiers));
  if (options_.every < 1 || options_.first < 0 ||
      options_.cases_per_worker < 1) {
    return InvalidArgumentError(
        "expected --every and --cases-per-worker of at least 1 and --first of "
        "at least 0, found less");
  }
  for (const int tier : tiers) {
    for (const std::string& path : options_.files) {
      EMBER_RETURN_IF_ERROR(options_.as_is ? TryAsItIs(path, tier)
                                           : TryFile(path, tier));
    }
  }
  if (!options_.as_is) {
    for (const auto& [tier, total] : totals_) AddRow("all", tier, 0, total);
    EMBER_ASSIGN_OR_RETURN(const tools::TableFormat format,
                           tools::ParseTableFormat(options_.format));
    std::fputs(table_.Print(format).c_str(), stdout);
  }
  if (findings_ == 0) return OkStatus();
  return InternalError(
      std::to_string(findings_) +
      " files crashed, hung, differed or were internal errors");
}

}  // namespace
}  // namespace ember::tests

int main(int argc, char** argv) {
  ember::tests::Options options;
  ember::tools::Flags flags(
      "mutate", "MODULE.vmfb... [flags]",
      "Loads and runs every damaged copy of modules, under small limits.");
  flags.Positional("MODULE.vmfb", 1, 10000, &options.files);
  flags.Add("tiers", &options.tiers, "LIST",
            "Runs the mutants on these tiers.");
  flags.Add("device", &options.device, "NAME",
            "Runs the mutants on this device, with kernels of tiers 1 and "
            "2; see vm-run.");
  flags.Add("every", &options.every, "N", "Runs only every n-th mutant.");
  flags.Add("first", &options.first, "N", "Begins with mutant N.");
  flags.Add("bits", &options.most_bytes_for_bits, "BYTES",
            "Flips every bit if header and metadata have at most BYTES "
            "bytes.");
  flags.Add("cases-per-worker", &options.cases_per_worker, "N",
            "Replaces a process by a new one after N mutants.");
  flags.Add("cpu-seconds", &options.cpu_seconds, "S",
            "Counts a mutant as hanging after S seconds of processor time.");
  flags.Add("results", &options.results,
            "Compares results with tier 0's, too. A reader must judge "
            "these findings, as a mutant may\n"
            "read the last bits of floats as a large number.");
  flags.Add("keep", &options.keep, "DIR", "Writes findings to this folder.");
  flags.AddChoice("format", &options.format, {"md", "json", "csv"},
                  "Prints the table in this format.");
  flags.Add("as-is", &options.as_is,
            "Runs the files without damage, in this process.");
  flags.Example("mutate model.vmfb --tiers=0 --every=10");
  flags.Example("mutate model.vmfb --device=vulkan --tiers=2 --every=100");
  return ember::tools::RunTool(argc, argv, flags, [&options] {
    return ember::tests::Mutator(options).Run();
  });
}
