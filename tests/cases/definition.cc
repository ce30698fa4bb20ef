#include "tests/cases/definition.h"

#include "jit/loops/evaluator/evaluator.h"
#include "tensor/evaluator/evaluator.h"
#include "tensor/testing/random_values.h"

namespace ember::cases {

Status RunDefinition(const Subject& subject,
                     const std::vector<int64_t>& parameters,
                     std::vector<Bytes>& buffers) {
  const std::vector<void*> pointers = tensor::Pointers(buffers);
  if (subject.dispatch)
    return tensor::Evaluate(*subject.dispatch, parameters, pointers, {});
  return loops::Evaluate(*subject.nest, parameters, pointers);
}

Status CheckRaces(const Subject& subject,
                  const std::vector<int64_t>& parameters,
                  std::vector<Bytes> buffers) {
  if (!subject.nest) return OkStatus();
  const Status status =
      loops::Evaluate(*subject.nest, parameters, tensor::Pointers(buffers),
                      {.refuse_races = true});
  return status.code() == StatusCode::kInternal ? status : OkStatus();
}

}  // namespace ember::cases
