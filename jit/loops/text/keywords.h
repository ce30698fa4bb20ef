// Defines the keywords of the text form of loop nests, which its printer and
// its parser share. Internal to jit/loops/text.
#ifndef EMBER_JIT_LOOPS_TEXT_KEYWORDS_H_
#define EMBER_JIT_LOOPS_TEXT_KEYWORDS_H_

#include <string_view>

namespace ember::loops {

// Keywords of the kinds of loops and the scopes of buffers, indexed by LoopKind
// and MemoryScope.
inline constexpr std::string_view kLoopKeywords[] = {
    "for", "unroll", "vector", "invocation", "dot", "subgroup", "matrix"};
inline constexpr std::string_view kScopeKeywords[] = {
    "input", "output", "packed", "call", "task", "register"};
// Keywords before a store that combines the values of a subgroup, indexed by
// Combining.
inline constexpr std::string_view kCombiningKeywords[] = {
    "", "subgroup_sum", "subgroup_product", "subgroup_minimum",
    "subgroup_maximum"};
// Keywords of the steps of a ring's slot, indexed by SlotStep.
inline constexpr std::string_view kSlotKeywords[] = {"fill", "await",
                                                     "release"};
// Keywords of the storage of buffers in a workgroup, indexed by StorageKind,
// and of the form of their elements, indexed by ElementForm.
inline constexpr std::string_view kStorageKeywords[] = {
    "unused", "memory", "slices", "shared", "private", "registers", "matrices"};
inline constexpr std::string_view kFormKeywords[] = {"", "vectors", "words",
                                                     "native"};

}  // namespace ember::loops

#endif  // EMBER_JIT_LOOPS_TEXT_KEYWORDS_H_
