// Invocation loops in which all invocations update one element together: how a
// workgroup combines what each of its invocations has.
//
//   invocation i < 64 { %sum[t] += %part[i] }
//
// Every value of the loop counts, in an order that is not specified. So such a
// loop has nothing else in it: a device makes of it what combines values of
// invocations best. The verifier refuses updates of one element by several
// invocations elsewhere.
//
// Thread-safe.
#ifndef EMBER_JIT_LOOPS_COMBINING_H_
#define EMBER_JIT_LOOPS_COMBINING_H_

#include "jit/loops/loop_nest.h"

namespace ember::loops {

// Whether the store's element is the same for all values of the loop over
// `variable`: no load and not that variable is in its indices.
bool IsOfAllInvocations(const tensor::ExpressionPool& pool, const Store& store,
                        NodeId variable);

// Whether the statement is an invocation loop that does nothing but update
// elements that are the same for all of its values.
bool IsCombining(const tensor::ExpressionPool& pool,
                 const Statement& statement);

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_COMBINING_H_
