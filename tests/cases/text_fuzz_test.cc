// Fuzzes texts of dispatches, schedules and nests from strangers, as files of
// cases: parsing, scheduling and lowering must not do harm. The text of a
// verified dispatch must parse back to the same dispatch. Whatever primitives
// were applied, the nest must verify, and so must the nest that is parsed from
// its text.
//
//   ./dev fuzz --seconds=3600 //tests/cases:text_fuzz_test
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "jit/loops/text/text.h"
#include "jit/loops/verifier/verifier.h"
#include "jit/pipeline/lower.h"
#include "jit/schedule/core/computation.h"
#include "jit/schedule/core/schedule.h"
#include "jit/schedule/primitives/replay.h"
#include "tensor/text/text.h"
#include "tensor/verifier/verifier.h"
#include "tests/cases/case_file.h"

namespace ember::cases {
namespace {

// Largest number of instructions of a dispatch that is scheduled. More are slow
// to schedule and find nothing else.
constexpr size_t kMaxInstructions = 200;
constexpr size_t kMaxLines = 40;

void RunNest(std::string_view text) {
  const StatusOr<loops::LoopNest> nest = loops::Parse(text);
  if (!nest.ok() || !loops::Verify(*nest).ok()) return;
  const std::string printed = loops::ToText(*nest);
  const StatusOr<loops::LoopNest> again = loops::Parse(printed);
  EMBER_CHECK(again.ok()) << again.status().ToString() << "\n" << printed;
  EMBER_CHECK(loops::ToText(*again) == printed) << printed;
}

// Returns the dispatch of the text, or an error.
StatusOr<tensor::Dispatch> DispatchOf(std::string_view text) {
  EMBER_ASSIGN_OR_RETURN(tensor::Dispatch dispatch, tensor::Parse(text));
  EMBER_RETURN_IF_ERROR(tensor::Verify(dispatch));
  const std::string printed = tensor::Print(dispatch);
  const StatusOr<tensor::Dispatch> again = tensor::Parse(printed);
  EMBER_CHECK(again.ok()) << again.status().ToString() << "\n" << printed;
  EMBER_CHECK(*again == dispatch) << printed;
  return dispatch;
}

void RunSchedule(const tensor::Dispatch& dispatch, std::string_view text) {
  if (dispatch.instructions.size() > kMaxInstructions) return;
  schedule::Schedule schedule(schedule::Disassemble(dispatch, {}));
  // Each line of the schedule is applied separately, so that an illegal line
  // does not keep the lines after it from being tried.
  size_t lines = 0;
  for (const std::string& line : SplitLines(text)) {
    if (++lines > kMaxLines) break;
    (void)schedule::Apply(line, schedule).ok();
  }
  const StatusOr<loops::LoopNest> nest = schedule::Lower(schedule);
  if (!nest.ok()) return;
  const Status legal = loops::Verify(*nest);
  EMBER_CHECK(legal.ok()) << legal.ToString() << "\n"
                          << schedule.ToText() << loops::ToText(*nest);
  RunNest(loops::ToText(*nest));
}

}  // namespace
}  // namespace ember::cases

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ember;
  using namespace ember::cases;
  const StatusOr<CaseFile> file = CaseFile::Parse(
      {reinterpret_cast<const char*>(data), size}, "input.case");
  if (!file.ok()) return 0;
  StatusOr<tensor::Dispatch> dispatch = InvalidArgumentError("none yet");
  for (const Section& section : file->sections) {
    if (section.keyword == "dispatch") dispatch = DispatchOf(section.body);
    if (section.keyword == "schedule" && dispatch.ok())
      RunSchedule(*dispatch, section.body);
    if (section.keyword == "nest") RunNest(section.body);
  }
  return 0;
}
