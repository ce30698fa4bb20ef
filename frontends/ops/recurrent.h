// Builds the loop over the steps of a sequence. Each step computes its states
// from those of the step before.
//
//   // h = tanh(x_t + h r)
//   States results = RunSteps(x, {h0}, true,
//       [&](const Capture& capture, Tensor, Tensor x_t, const States& before) {
//         Tensor h = Tanh(x_t + MatMul(before[0], capture(r)));
//         return States{h, h};
//       });   // {the last h, all of them}
//
// A sequence of one step is computed without a loop. Errors stay in the graph
// builder; the list of results is then empty.
#ifndef EMBER_FRONTENDS_OPS_RECURRENT_H_
#define EMBER_FRONTENDS_OPS_RECURRENT_H_

#include <functional>
#include <vector>

#include "frontends/ops/tensor.h"

namespace ember::ops {

// Makes a value of the graph around the loop available in the loop's body.
using Capture = std::function<Tensor(Tensor)>;
using States = std::vector<Tensor>;
// Computes a step: returns the states after it, followed by its output.
// iteration: i64[], from 0; input: the slice of the sequence for this step.
using StepFunction =
    std::function<States(const Capture& capture, Tensor iteration, Tensor input,
                         const States& before)>;

// Returns the last states, followed, if `keep_outputs`, by the outputs of all
// steps, [steps, …]. input: [steps, …].
States RunSteps(Tensor input, const States& initial, bool keep_outputs,
                const StepFunction& step);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_RECURRENT_H_
