"""What tests on Metal need."""

FAKE_METAL = "//hal/metal/testing:libfake_metal.so"

# The `env` attribute of tests that use the fake functions, with FAKE_METAL as their data.
FAKE_METAL_ENV = {"EMBER_METAL_LIBRARY": "hal/metal/testing/libfake_metal.so"}
