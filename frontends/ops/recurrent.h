// The loop over the steps of a sequence, with states that each step makes from
// those before it.
//
//   // h = tanh(x_t + h r)
//   States results = RunSteps(x, {h0}, true,
//       [&](const Capture& capture, Tensor, Tensor x_t, const States& before) {
//         Tensor h = Tanh(x_t + MatMul(before[0], capture(r)));
//         return States{h, h};
//       });   // {the last h, all of them}
//
// One step is no loop. Errors stick to the graph builder; then there are no
// results.
#ifndef EMBER_FRONTENDS_OPS_RECURRENT_H_
#define EMBER_FRONTENDS_OPS_RECURRENT_H_

#include <functional>
#include <vector>

#include "frontends/ops/tensor.h"

namespace ember::ops {

// A value of the graph around the loop, inside.
using Capture = std::function<Tensor(Tensor)>;
using States = std::vector<Tensor>;
// The states after a step, and behind them what it adds to the output.
// iteration: i64[], from 0; input: the step's slice.
using StepFunction =
    std::function<States(const Capture& capture, Tensor iteration, Tensor input,
                         const States& before)>;

// input: [steps, …]. The last states, then, if they are kept, the outputs of
// all steps, [steps, …].
States RunSteps(Tensor input, const States& initial, bool keep_outputs,
                const StepFunction& step);

}  // namespace ember::ops

#endif  // EMBER_FRONTENDS_OPS_RECURRENT_H_
