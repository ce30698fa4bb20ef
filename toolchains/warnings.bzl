"""The warning flags of .bazelrc, for builds that do not get --copt (cross builds in tests)."""

WARNINGS = [
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wno-unused-parameter",
    "-Wno-missing-field-initializers",
    "-Wno-psabi",
    "-Wno-maybe-uninitialized",
    "-Wno-restrict",
    "-Wno-array-bounds",
    "-Wno-stringop-overflow",
    "-Wno-stringop-overread",
    "-Wno-dangling-pointer",
    "-Wno-free-nonheap-object",
    "-Wno-nonnull",
]
