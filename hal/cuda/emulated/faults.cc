#include "hal/cuda/emulated/faults.h"

#include <charconv>

namespace ember::hal::cuda {

void Calls::Begin(std::string_view fault) {
  *this = Calls();
  const size_t first = fault.find(':');
  const size_t second = fault.find(':', first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos)
    return;
  fault_function_ = fault.substr(0, first);
  std::from_chars(&fault[first + 1], &fault[second], fault_call_);
  std::from_chars(&fault[second + 1], fault.data() + fault.size(),
                  fault_result_);
}

CUresult Calls::Note(std::string_view symbol) {
  names_ += symbol;
  names_ += '\0';
  ++count_;
  auto found = counts_.find(symbol);
  if (found == counts_.end())
    found = counts_.emplace(std::string(symbol), 0).first;
  ++found->second;
  const bool is_it = fault_function_ == "*" ? count_ == fault_call_
                                            : symbol == fault_function_ &&
                                                  found->second == fault_call_;
  if (!is_it) return 0;
  ++faults_;
  return fault_result_;
}

}  // namespace ember::hal::cuda
