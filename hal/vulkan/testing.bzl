"""What tests on Vulkan need."""

load("@vulkan//:defs.bzl", "LAVAPIPE_ICD")

# True if the software device is not installed: tests are skipped, and say so.
VULKAN_MAY_BE_MISSING = not LAVAPIPE_ICD

# The `env` attribute of tests: it makes them use the software device on every machine. The device
# leaks a little, and is unloaded before LeakSanitizer runs.
VULKAN_TEST_ENV = {
    "EMBER_TEST_VULKAN": "optional" if VULKAN_MAY_BE_MISSING else "required",
    "LSAN_OPTIONS": "detect_leaks=0",
    # Mesa's cache of shaders would write to the home folder.
    "MESA_SHADER_CACHE_DISABLE": "true",
    "VK_ICD_FILENAMES": LAVAPIPE_ICD,
}
