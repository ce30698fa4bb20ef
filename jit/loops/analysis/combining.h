// Recognises combining loops: invocation loops in which all invocations update
// one element together. A workgroup uses them to combine the values of its
// invocations.
//
//   invocation i < 64 { %sum[t] += %part[i] }
//
// The update counts every value of the loop, in an unspecified order. Such a
// loop contains nothing else, so that a device may replace it by its own
// reduction over invocations. Elsewhere the verifier refuses updates of one
// element by several invocations.
//
// Thread-safe.
#ifndef EMBER_JIT_LOOPS_ANALYSIS_COMBINING_H_
#define EMBER_JIT_LOOPS_ANALYSIS_COMBINING_H_

#include "jit/loops/loop_nest.h"

namespace ember::loops {

// True if the store's element is the same for all values of the loop over
// `variable`: its indices contain neither a load nor that variable.
bool IsOfAllInvocations(const tensor::ExpressionPool& pool, const Store& store,
                        NodeId variable);

// True if the statement is an invocation loop that only updates elements that
// are the same for all of its values.
bool IsCombining(const tensor::ExpressionPool& pool,
                 const Statement& statement);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_ANALYSIS_COMBINING_H_
