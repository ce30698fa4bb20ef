"""What tests on OpenCL need."""

# The `env` attribute of tests that use the machine's OpenCL device. They are skipped where there is
# none, which they say. PoCL starts two threads whatever the machine has, and keeps its compiled
# kernels in the test's own folder.
OPENCL_TEST_ENV = {
    # Leaks are not detected, because PoCL's compiler leaks a little memory, and its library is
    # unloaded before LeakSanitizer runs.
    "LSAN_OPTIONS": "detect_leaks=0",
    "POCL_CACHE_DIR": "/tmp/ember_pocl",
    "POCL_MAX_PTHREAD_COUNT": "2",
}

FAKE_OPENCL = "//hal/opencl/testing:libfake_opencl.so"

# The `env` attribute of tests that use the fake library, with FAKE_OPENCL as their data.
FAKE_OPENCL_ENV = {"EMBER_OPENCL_LIBRARY": "hal/opencl/testing/libfake_opencl.so"}

# The three ways in which the driver gives the host access to memory, with which the conformance
# suite runs: the end of the test's name, arguments of the suite, environment.
OPENCL_MEMORIES = [
    ("", [], {}),
    ("_separate_memory", ["--separate-memory"], {}),
    ("_mapped_memory", [], {"EMBER_OPENCL_WITHOUT_SVM": "1"}),
]

def opencl_env(first, second):
    """Returns one `env` attribute of two."""
    return dict(first.items() + second.items())
