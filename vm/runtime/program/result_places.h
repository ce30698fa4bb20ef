// Memory of the caller to which results are written. Internal to sessions.
//
//   ResultPlaces places(module);
//   EMBER_RETURN_IF_ERROR(places.Set({{data, bytes}, {}}));
//   EMBER_RETURN_IF_ERROR(places.Check(inputs));       // a run begins
//   if (places.Has(0)) EMBER_RETURN_IF_ERROR(places.Put(0, data, result));
//
// Not thread-safe. Errors name the result, what was expected and what was
// found.
#ifndef EMBER_VM_RUNTIME_PROGRAM_RESULT_PLACES_H_
#define EMBER_VM_RUNTIME_PROGRAM_RESULT_PLACES_H_

#include <span>
#include <vector>

#include "base/status.h"
#include "vm/runtime/module.h"
#include "vm/runtime/session.h"
#include "vm/runtime/tensor.h"

namespace ember::vm {

class ResultPlaces {
 public:
  // Makes an object in which no result has a place. The module must outlive it.
  explicit ResultPlaces(const Module& module) : module_(module) {}

  // Sets the caller's memory for results, as Session::PlaceResults describes.
  Status Set(std::vector<ResultPlace> places);
  // Checks that the places do not overlap the inputs, because a dispatch may
  // read an input after a result has been written.
  Status Check(std::span<const Tensor> inputs) const;

  bool Has(size_t result) const {
    return result < places_.size() && places_[result].data != nullptr;
  }
  // Copies `data`, of result.byte_size bytes, to the place of result number
  // `index`. The tensor `result` then refers to the place.
  Status Put(size_t index, const void* data, Tensor& result) const;

 private:
  const Module& module_;
  std::vector<ResultPlace> places_;  // for each result, the caller's memory for
                                     // it; or empty
};

}  // namespace ember::vm

#endif  // EMBER_VM_RUNTIME_PROGRAM_RESULT_PLACES_H_
