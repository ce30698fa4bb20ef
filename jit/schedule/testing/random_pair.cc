
#include "jit/schedule/testing/random_pair.h"

#include <algorithm>
#include <utility>

#include "jit/math/expand.h"
#include "jit/schedule/core/normalise.h"
#include "jit/schedule/primitives/primitives.h"
#include "jit/schedule/testing/random_model_dispatch.h"
#include "tensor/evaluator/evaluator.h"
#include "tensor/text/text.h"
#include "vm/interpreter/plan.h"

namespace ember::schedule {
namespace {

class Choices : public tensor::RandomChoices {
 public:
  using RandomChoices::RandomChoices;
};

// Returns, for each input, the output that shares its memory, chosen at random
// among those that may; -1 for none.
std::vector<int> ChooseSameMemory(const tensor::Dispatch& dispatch,
                                  Choices& choices) {
  const int inputs = static_cast<int>(dispatch.input_count());
  const int outputs = static_cast<int>(dispatch.output_count());
  std::vector<int> same_memory(static_cast<size_t>(inputs), -1);
  std::vector<bool> taken(static_cast<size_t>(outputs));
  for (int i = 0; i < inputs; ++i) {
    for (int o = 0; o < outputs; ++o) {
      if (taken[static_cast<size_t>(o)] || choices.Chance(3) ||
          !vm::MayAlias(dispatch, i, inputs + o)) {
        continue;
      }
      same_memory[static_cast<size_t>(i)] = inputs + o;
      taken[static_cast<size_t>(o)] = true;
      break;
    }
  }
  return same_memory;
}

// True if the dispatch has functions, such as exp, that nests compute by
// polynomials.
bool HasExpanded(const tensor::Dispatch& dispatch) {
  return std::ranges::any_of(
      dispatch.instructions, [](const tensor::Instruction& instruction) {
        return jit::IsExpanded(instruction.opcode, instruction.type);
      });
}

}  // namespace

std::string RandomPair::Compare(
    const std::function<Status(std::span<void* const>)>& run) const {
  std::vector<std::vector<uint8_t>> actual = random.MakeBuffers();
  std::vector<void*> pointers = tensor::Pointers(actual);
  for (size_t i = 0; i < same_memory.size(); ++i) {
    if (same_memory[i] >= 0)
      pointers[static_cast<size_t>(same_memory[i])] = pointers[i];
  }
  const Status status = run(pointers);
  if (status.ok() != expected_status.ok())
    return "expected " + expected_status.ToString() + ", found " +
           status.ToString();
  if (!status.ok()) return "";
  for (size_t i = 0; i < same_memory.size(); ++i) {
    if (same_memory[i] < 0) continue;
    actual[static_cast<size_t>(same_memory[i])] = actual[i];
    actual[i] = expected[i];
  }
  if (KeepsRounding(schedule)) {
    // Polynomials in place of functions have errors of a few ULPs, which
    // cancellation may enlarge.
    const double tolerance = HasExpanded(random.dispatch) ? 1e-5 : 0;
    return tensor::FirstDifference(random, expected, actual, tolerance,
                                   tolerance);
  }
  // The tolerance covers the error bound of winograd_matrices.h for sums of up
  // to 1000 products of values below 10.
  return tensor::FirstDifference(random, expected, actual, 1e-2, 1e-4);
}

std::string RandomPair::ToText() const {
  std::string text = tensor::Print(random.dispatch);
  if (is_specialised) text += "// specialised\n";
  for (size_t i = 0; i < same_memory.size(); ++i) {
    if (same_memory[i] < 0) continue;
    text += "// %" + computation.buffers[i].name + " is the same memory as %" +
            computation.buffers[static_cast<size_t>(same_memory[i])].name +
            "\n";
  }
  for (const ComputationBuffer& buffer : computation.buffers) {
    if (buffer.is_constant) text += "// %" + buffer.name + " is a constant\n";
  }
  return text + schedule.ToText();
}

RandomPair MakeRandomPair(uint64_t seed) {
  Choices choices(seed);
  tensor::RandomCase random = seed % 2 == 0 ? tensor::MakeRandomCase(seed, {})
                                            : MakeRandomModelDispatch(seed);
  const bool is_specialised = !random.parameters.empty() && choices.Chance(2);
  const std::vector<int64_t> none;
  Computation computation =
      Disassemble(random.dispatch, is_specialised ? random.parameters : none);
  std::vector<int> same_memory = ChooseSameMemory(random.dispatch, choices);
  const std::vector<std::vector<uint8_t>> data = random.MakeBuffers();
  for (size_t i = 0; i < same_memory.size(); ++i) {
    if (same_memory[i] < 0 && choices.Chance(2))
      MakeConstant(computation.buffers[i], data[i]);
  }
  if (choices.Chance(2)) {
    Normalise(computation);
  }
  Schedule schedule(computation);
  RandomScheduleCounts counts;
  ApplyRandomPrimitives(seed, 1 + choices.Below(25), schedule, &counts);
  RandomPair pair{.random = std::move(random),
                  .parameters = {},
                  .is_specialised = is_specialised,
                  .computation = std::move(computation),
                  .schedule = std::move(schedule),
                  .counts = std::move(counts),
                  .same_memory = std::move(same_memory),
                  .expected = {},
                  .expected_status = {}};
  if (!is_specialised) pair.parameters = pair.random.parameters;
  pair.expected = pair.random.MakeBuffers();
  pair.expected_status =
      tensor::Evaluate(pair.random.dispatch, pair.random.parameters,
                       tensor::Pointers(pair.expected), {});
  return pair;
}

}  // namespace ember::schedule
