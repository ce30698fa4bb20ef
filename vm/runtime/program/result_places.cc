#include "vm/runtime/program/result_places.h"

#include <cstring>
#include <utility>

#include "base/concat.h"

namespace ember::vm {
namespace {

bool Overlap(const void* a, int64_t a_bytes, const void* b, int64_t b_bytes) {
  const auto* const first = static_cast<const uint8_t*>(a);
  const auto* const second = static_cast<const uint8_t*>(b);
  return a_bytes > 0 && b_bytes > 0 && first < second + b_bytes &&
         second < first + a_bytes;
}

}  // namespace

Status ResultPlaces::Set(std::vector<ResultPlace> places) {
  const std::span<const TensorSignature> results = module_.results();
  if (!places.empty() && places.size() != results.size()) {
    return InvalidArgumentError(Concat({"places: expected ", results.size(),
                                        " or none, found ", places.size()}));
  }
  for (size_t i = 0; i < places.size(); ++i) {
    const ResultPlace& place = places[i];
    if (place.data == nullptr) continue;
    const auto error = [&](std::string_view what) {
      return InvalidArgumentError(
          Concat({"place of result '", results[i].name, "': ", what}));
    };
    if (results[i].logical_type == kStringType)
      return error("expected a result with elements in memory, found strings");
    const auto alignment =
        static_cast<uintptr_t>(DTypeByteSize(results[i].type));
    if (reinterpret_cast<uintptr_t>(place.data) % alignment != 0)
      return error("expected memory that is aligned for its elements");
    for (size_t other = 0; other < i; ++other) {
      if (Overlap(place.data, place.byte_size, places[other].data,
                  places[other].byte_size)) {
        return error(Concat({"expected memory apart from that of result '",
                             results[other].name, "'"}));
      }
    }
  }
  places_ = std::move(places);
  return OkStatus();
}

Status ResultPlaces::Check(std::span<const Tensor> inputs) const {
  for (size_t i = 0; i < places_.size(); ++i) {
    if (places_[i].data == nullptr) continue;
    for (size_t input = 0; input < inputs.size(); ++input) {
      if (inputs[input].strings != nullptr ||
          !Overlap(places_[i].data, places_[i].byte_size, inputs[input].data,
                   inputs[input].byte_size)) {
        continue;
      }
      return InvalidArgumentError(
          Concat({"place of result '", module_.results()[i].name,
                  "': expected memory apart from that of input ", input,
                  ", found shared memory"}));
    }
  }
  return OkStatus();
}

Status ResultPlaces::Put(size_t index, const void* data, Tensor& result) const {
  const ResultPlace& place = places_[index];
  if (result.byte_size > place.byte_size) {
    return InvalidArgumentError(
        Concat({"place of result '", module_.results()[index].name,
                "': expected ", result.byte_size, " bytes for ",
                TensorTypeText(result.type, result.dims), ", found ",
                place.byte_size}));
  }
  if (result.byte_size > 0) {
    std::memcpy(place.data, data, static_cast<size_t>(result.byte_size));
  }
  result.data = place.data;
  result.memory.reset();
  result.strings.reset();
  return OkStatus();
}

}  // namespace ember::vm
