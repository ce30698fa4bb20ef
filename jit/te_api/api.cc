// Defines the table of the C API for kernels, its error messages, and the
// descriptions of primitives.
#include <string>

#include "base/one_line.h"
#include "jit/schedule/core/operands.h"
#include "jit/schedule/core/steps.h"
#include "jit/te_api/objects.h"

namespace ember::te_api {
namespace {

thread_local std::string last_error;

constexpr EmberTeApi kApi = {
    sizeof(EmberTeApi), EMBER_TE_API_VERSION,
    ErrorMessage,       StopCreate,
    StopRequest,        StopRelease,
    DispatchParse,      DispatchRelease,
    DispatchName,       DispatchText,
    DispatchBuffer,     DispatchOutputDims,
    DispatchEvaluate,   ScheduleCreate,
    ScheduleCopy,       ScheduleRelease,
    ScheduleApply,      ScheduleReplay,
    ScheduleText,       ScheduleNest,
    ScheduleStage,      ScheduleLoop,
    PrimitiveInfoAt,    PrimitiveOperand,
    KernelCompile,      KernelRelease,
    KernelTarget,       KernelCode,
    KernelRun,          KernelsTime,
    MachinePeak,
};

// The name, texts and operands of a primitive, as the C API returns them. They
// live until the process ends.
struct Primitive {
  std::string name, usage, doc;
  bool keeps_rounding = true;
  bool changes_loops_only = true;
  schedule::StepOperands words;
};

const std::vector<Primitive>& AllPrimitives() {
  static const auto* const kPrimitives = [] {
    auto* all = new std::vector<Primitive>;
    std::vector<schedule::StepOperands> operands =
        schedule::OperandsOfPrimitives();
    for (const schedule::PrimitiveInfo& info : schedule::Primitives()) {
      all->push_back({std::string(info.name), std::string(info.usage),
                      std::string(info.doc), info.keeps_rounding,
                      info.changes_loops_only,
                      std::move(operands[all->size()])});
    }
    return all;
  }();
  return *kPrimitives;
}

StatusOr<const Primitive*> FindPrimitive(int32_t index) {
  const auto& all = AllPrimitives();
  if (index >= 0 && static_cast<size_t>(index) < all.size())
    return &all[static_cast<size_t>(index)];
  return NotFoundError(Concat(
      {"primitive: expected an index below ", all.size(), ", found ", index}));
}

Status DescribeOperand(const Primitive& primitive, int32_t operand,
                       EmberTeOperandInfo* info) {
  const auto& [operands, results] = primitive.words;
  const size_t count = operands.size() + results.size();
  const auto at = static_cast<size_t>(operand);
  if (operand < 0 || at >= count) {
    return NotFoundError(
        Concat({"primitive ", primitive.name, ": expected an operand below ",
                count, ", found ", operand}));
  }
  if (at >= operands.size()) {
    // A result of a primitive is a new loop, or a new stage if the primitive
    // changes more than loops.
    Fill<EmberTeOperandInfo>(
        {sizeof(EmberTeOperandInfo), results[at - operands.size()].c_str(),
         primitive.changes_loops_only ? "loop" : "stage", 0, 0},
        info);
    return OkStatus();
  }
  const schedule::StepOperand& found = operands[at];
  // The names of operand kinds are string literals, so data() ends with a zero,
  // as the C API needs.
  Fill<EmberTeOperandInfo>({sizeof(EmberTeOperandInfo), found.name.c_str(),
                            schedule::NameOf(found.kind).data(),
                            found.is_optional, found.is_repeated},
                           info);
  return OkStatus();
}

}  // namespace

EmberStatus Report(const Status& status) {
  if (status.ok()) return EMBER_OK;
  // Names in the message may come from an untrusted text and contain control
  // characters, which OnOneLine removes.
  last_error = OnOneLine(status.message());
  return static_cast<EmberStatus>(status.code());
}

EmberStatus ReportNull(const char* function) {
  return Report(InvalidArgumentError(
      Concat({function, ": expected pointers, found NULL"})));
}

const char* ErrorMessage() { return last_error.c_str(); }

EmberStatus StopCreate(EmberTeStop** stop) {
  if (stop == nullptr) return ReportNull("stop_create");
  *stop = new EmberTeStop;
  return EMBER_OK;
}

void StopRequest(EmberTeStop* stop) {
  if (stop != nullptr) stop->interrupt.Cancel();
}

void StopRelease(EmberTeStop* stop) { delete stop; }

EmberStatus PrimitiveInfoAt(int32_t index, EmberTePrimitiveInfo* info) {
  if (info == nullptr) return ReportNull("primitive_info");
  const auto found = FindPrimitive(index);
  if (!found.ok()) return Report(found.status());
  const Primitive& primitive = **found;
  Fill<EmberTePrimitiveInfo>(
      {sizeof(EmberTePrimitiveInfo), primitive.name.c_str(),
       primitive.usage.c_str(), primitive.doc.c_str(),
       static_cast<int32_t>(primitive.words.operands.size()),
       static_cast<int32_t>(primitive.words.results.size()),
       primitive.keeps_rounding},
      info);
  return EMBER_OK;
}

EmberStatus PrimitiveOperand(int32_t index, int32_t operand,
                             EmberTeOperandInfo* info) {
  if (info == nullptr) return ReportNull("primitive_operand");
  const auto found = FindPrimitive(index);
  if (!found.ok()) return Report(found.status());
  return Report(DescribeOperand(**found, operand, info));
}

}  // namespace ember::te_api

const EmberTeApi* ember_get_te_api(uint32_t version) {
  return version >= 1 && version <= EMBER_TE_API_VERSION ? &ember::te_api::kApi
                                                         : nullptr;
}
