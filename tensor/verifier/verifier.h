// Checks a dispatch that comes from outside. If Verify returns OK, every
// invariant below holds, and code that runs or transforms the dispatch need not
// check any of them again.
//
//   EMBER_RETURN_IF_ERROR(Verify(dispatch));
//
// Checked, in this order:
//   limits       at most 2^17 instructions, 2^20 operands, 4096 buffers,
//                parameters and stages, 16 dims per buffer, 32 axes and 256
//                values per stage
//   names        tensor/names.h; buffers unique in the dispatch, axes in their
//                stage and against parameters
//   instructions operands are earlier registers of the header or of the same
//                stage; types are those of the instruction table; the fields
//                that an instruction does not use are zero, and constants fit
//                their type; parameters appear in the header only; the header
//                holds no loads, axes or fold values
//   buffers      inputs, outputs, temporaries in this order; extents are i64
//                registers of the header
//   stages       contiguous, covering all instructions after the header; axes'
//                extents are i64 registers of the header; one value per store
//                (a fold may have more values); stores to outputs and
//                temporaries only, each buffer once per stage; store indices
//                are i64 registers that do not depend on reduction axes or fold
//                values; value types are the buffers'; min, max and product
//                accept what the table's instructions accept, sums any type but
//                bool
//   folds        initial values depend on no axis, load or fold value; results
//                depend on fold values, constants and header values only; types
//                agree
//   data flow    an output or temporary is loaded only after an earlier stage
//                stored to it, and so is the target of an update (+=); a stage
//                loads a buffer that it stores itself only at exactly the
//                indices of the store, only without reduction axes, never by
//                pad
//
// Not checked here, because they depend on the parameters: extents' signs and
// sizes, and whether loads and stores are in bounds.
#ifndef EMBER_TENSOR_VERIFIER_VERIFIER_H_
#define EMBER_TENSOR_VERIFIER_VERIFIER_H_

#include "base/status.h"
#include "tensor/dispatch.h"

namespace ember::tensor {

// Checks a dispatch. Returns kInvalidArgument with one line: "dispatch @name:
// stage 2: ...: expected ..., found ...".
Status Verify(const Dispatch& dispatch);

}  // namespace ember::tensor

#endif  // EMBER_TENSOR_VERIFIER_VERIFIER_H_
