// The end of error messages about a number that the import needs but only a run
// would know.
#ifndef EMBER_FRONTENDS_TORCHSCRIPT_KNOWN_WHEN_IMPORTING_H_
#define EMBER_FRONTENDS_TORCHSCRIPT_KNOWN_WHEN_IMPORTING_H_

namespace ember::torchscript {

inline constexpr char kMakeItKnown[] =
    "; if an input decides it, make that a constant (--constant=NAME=VALUE) or "
    "fix its dims (--shape)";

}  // namespace ember::torchscript

#endif  // EMBER_FRONTENDS_TORCHSCRIPT_KNOWN_WHEN_IMPORTING_H_
