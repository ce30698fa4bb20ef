#include "jit/oracle/oracle.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "jit/backend/decline_reasons.h"
#include "jit/oracle/coverage.h"
#include "jit/oracle/suspects.h"
#include "tensor/analysis/element_bounds.h"
#include "tensor/parameters_text.h"
#include "tensor/scalar.h"
#include "vm/runtime/kernel_provider.h"

namespace ember::jit {
namespace {

// The tolerance for elements whose interval could not be computed. Results of
// right executors rarely differ by more than kRare * (usual difference) *
// (|element| + kRareOfSize * |largest element|).
constexpr double kRare = 64;
constexpr double kRareOfSize = 0.25;
// Elements whose interval allows any value count as right if they are few: at
// most kSome plus one in kOneOf elements.
constexpr int64_t kOneOf = 8;
constexpr int64_t kSome = 8;

bool HasFloats(const tensor::Dispatch& dispatch) {
  return std::ranges::any_of(
      dispatch.instructions,
      [](const tensor::Instruction& i) { return IsFloat(i.type); });
}

// Returns the least precise float type among the dispatch's instructions: the
// results cannot be more precise than that.
DType CoarsestFloat(const tensor::Dispatch& dispatch) {
  DType coarsest = DType::kF64;
  for (const tensor::Instruction& instruction : dispatch.instructions) {
    if (UsualDifference(instruction.type) > UsualDifference(coarsest))
      coarsest = instruction.type;
  }
  return coarsest;
}

bool HasFloatSums(const tensor::Dispatch& dispatch) {
  return std::ranges::any_of(dispatch.stages, [&](const tensor::Stage& stage) {
    return !stage.reduction.empty() && !stage.values.empty() &&
           IsFloat(dispatch.instructions[stage.values[0]].type);
  });
}

std::string NumberText(uint64_t bits, DType type) {
  char text[40];
  if (IsFloat(type)) {
    std::snprintf(text, sizeof text, "%.9g", tensor::BitsToDouble(bits, type));
    return text;
  }
  if (type == DType::kU64) return std::to_string(bits);
  return std::to_string(tensor::BitsToInteger(bits, type));
}

// Returns the index of an element as text: "[0, 3]".
std::string IndexText(std::span<const int64_t> extents, int64_t element) {
  std::string text;
  for (size_t i = extents.size(); i-- > 0;) {
    text = std::to_string(element % extents[i]) + (text.empty() ? "" : ", ") +
           text;
    element /= extents[i];
  }
  return "[" + text + "]";
}

class Comparison {
 public:
  Comparison(const vm::ComparedCall& call, const tensor::ConcreteHeader& header,
             int64_t most_steps)
      : call_(call),
        dispatch_(call.dispatch),
        header_(header),
        growth_(call.kernel.error_growth()),
        has_floats_(HasFloats(dispatch_)),
        has_sums_(HasFloatSums(dispatch_)),
        bounds_(dispatch_, header, call.inputs,
                {.most_steps = most_steps, .error_growth = growth_}) {}

  Finding Run() {
    finding_.tells_little = HasPlainInput();
    for (uint32_t i = 0; i < call_.want.size() && finding_.difference.empty();
         ++i)
      LookAt(i);
    return std::move(finding_);
  }

 private:
  enum class Verdict { kRight, kWrong, kUntold };

  // True if some input that is no constant has two or more elements, all of
  // them equal, as states have at the beginning. The call then proves little: a
  // kernel that reads wrong elements of this input gives the same results.
  bool HasPlainInput() const {
    for (uint32_t i = 0; i < call_.inputs.size(); ++i) {
      if (i < call_.constant_inputs.size() && call_.constant_inputs[i])
        continue;
      const tensor::Buffer& buffer = dispatch_.buffers[i];
      const auto size = static_cast<size_t>(DTypeByteSize(buffer.type));
      const int64_t count = header_.ElementCount(buffer);
      const auto* const data = static_cast<const char*>(call_.inputs[i]);
      if (count > 1 && IsPlain(data, size, static_cast<size_t>(count) * size))
        return true;
    }
    return false;
  }

  // True if all elements are equal. The comparison is done in pieces; if the
  // call is interrupted between them, returns false.
  bool IsPlain(const char* data, size_t size, size_t bytes) const {
    constexpr size_t kAtOnce = size_t{1} << 20;
    for (size_t begin = 0; begin + size < bytes; begin += kAtOnce) {
      if (call_.interrupt != nullptr && call_.interrupt->ShouldStop())
        return false;
      const size_t piece = std::min(kAtOnce, bytes - size - begin);
      if (std::memcmp(data + begin, data + begin + size, piece) != 0)
        return false;
    }
    return true;
  }

  void LookAt(uint32_t output) {
    const uint32_t number = dispatch_.input_count() + output;
    const tensor::Buffer& buffer = dispatch_.buffers[number];
    const int64_t count = header_.ElementCount(buffer);
    const void* const got = call_.got[output];
    const void* const want = call_.want[output];
    const Suspects suspects =
        FindSuspects(buffer.type, got, want, count, has_sums_, call_.interrupt);
    finding_.has_suspects |= suspects.count > 0;
    for (const int64_t element : suspects.elements) {
      const uint64_t found = tensor::LoadElement(got, element, buffer.type);
      const uint64_t wanted = tensor::LoadElement(want, element, buffer.type);
      Verdict verdict =
          VerdictOn(number, element, found, wanted, suspects.size);
      if (verdict == Verdict::kUntold) {
        finding_.is_untold = true;
        verdict = WithoutTelling(buffer.type, found, wanted, suspects, count);
      }
      if (verdict == Verdict::kRight) continue;
      char largest[32];
      std::snprintf(largest, sizeof largest, "%.3g", suspects.largest);
      finding_.difference =
          Concat({"%", buffer.name, IndexText(header_.Extents(buffer), element),
                  ": got ", NumberText(found, buffer.type), ", want ",
                  NumberText(wanted, buffer.type), "; ", suspects.count, " of ",
                  count, " elements differ, by up to ", largest});
      return;
    }
  }

  Verdict VerdictOn(uint32_t buffer, int64_t element, uint64_t got,
                    uint64_t want, double size) {
    const DType type = dispatch_.buffers[buffer].type;
    // Winograd's method computes sums from other products than the definition
    // (growth_ > 1). Its errors are proportional to the largest results of the
    // buffer rather than to the element.
    const double distance = std::abs(tensor::BitsToDouble(got, type) -
                                     tensor::BitsToDouble(want, type));
    if (growth_ > 1 && IsFloat(type) &&
        distance <= tensor::kGrownRoundings * growth_ *
                        std::max(tensor::RoundingError(type), 0x1p-24) * size)
      return Verdict::kRight;
    const tensor::ValueRange range = bounds_.Of(buffer, element);
    if (!range.is_known) return Verdict::kUntold;
    return range.Contains(got, type) ? Verdict::kRight : Verdict::kWrong;
  }

  Verdict WithoutTelling(DType type, uint64_t got, uint64_t want,
                         const Suspects& suspects, int64_t count) const {
    const bool are_few = (suspects.count - kSome) * kOneOf <= count;
    // An interval that allows any value says nothing about the element. This
    // occurs for single elements of right kernels, but not for most of a
    // buffer, so few such elements are accepted.
    if (bounds_.steps_left() > 0 && are_few) return Verdict::kRight;
    if (!IsFloat(type))
      return has_floats_ && are_few ? Verdict::kRight : Verdict::kWrong;
    const double wanted = tensor::BitsToDouble(want, type);
    const double distance = std::abs(tensor::BitsToDouble(got, type) - wanted);
    const double rare = kRare * UsualDifference(CoarsestFloat(dispatch_)) *
                        (std::abs(wanted) + kRareOfSize * suspects.size);
    return distance <= rare ? Verdict::kRight : Verdict::kWrong;
  }

  const vm::ComparedCall& call_;
  const tensor::Dispatch& dispatch_;
  const tensor::ConcreteHeader& header_;
  const double growth_;
  const bool has_floats_, has_sums_;
  tensor::ElementBounds bounds_;
  Finding finding_;
};

std::string ErrorText(const Status& status) {
  return status.ok() ? "success" : "the error " + status.ToString();
}

}  // namespace

Finding Compare(const vm::ComparedCall& call, int64_t most_steps) {
  if (!call.got_status.ok() || !call.want_status.ok()) {
    Finding finding;
    if (call.got_status.ok() != call.want_status.ok()) {
      finding.difference = "got " + ErrorText(call.got_status) + ", want " +
                           ErrorText(call.want_status);
    }
    return finding;
  }
  const StatusOr<tensor::ConcreteHeader> header =
      tensor::ConcreteHeader::Evaluate(call.dispatch, call.parameters);
  if (!header.ok()) return {.difference = header.status().ToString()};
  return Comparison(call, *header, most_steps).Run();
}

vm::KernelVerdict Oracle::Judge(const vm::ComparedCall& call) {
  const Finding finding = Compare(call, options_.most_steps);
  const bool is_wrong = !finding.difference.empty();
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ++totals_.calls;
    totals_.wrong += is_wrong;
    totals_.suspects += !is_wrong && finding.has_suspects;
    totals_.untold += !is_wrong && finding.is_untold;
  }
  if (!is_wrong) return {.tells_little = finding.tells_little};
  std::string what =
      Concat({"tier ", call.kernel.tier(), " with ",
              tensor::ParametersText(call.dispatch, call.parameters), ": ",
              finding.difference});
  if (options_.report != nullptr) {
    const std::string more = options_.report(call, finding.difference);
    if (!more.empty()) what += "; " + more;
  }
  return {.wrong = Decline(DeclineReason::kDiffers, what).ToString()};
}

bool Oracle::StoresAll(const tensor::Dispatch& dispatch,
                       std::span<const int64_t> parameters, size_t output) {
  const StatusOr<tensor::ConcreteHeader> header =
      tensor::ConcreteHeader::Evaluate(dispatch, parameters);
  return header.ok() && StoresEveryElement(dispatch, *header,
                                           dispatch.input_count() +
                                               static_cast<uint32_t>(output));
}

OracleTotals Oracle::totals() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return totals_;
}

}  // namespace ember::jit
