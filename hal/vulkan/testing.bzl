"""What tests on Vulkan need."""

load("@vulkan//:defs.bzl", "LAVAPIPE_ICD")

# True if Mesa's software device (lavapipe) is not installed. Tests are then skipped and say so.
VULKAN_MAY_BE_MISSING = not LAVAPIPE_ICD

# The `env` attribute of tests, with which they use the software device on every machine. The device
# leaks a little memory, and its library is unloaded before LeakSanitizer runs, so leak detection is
# disabled.
VULKAN_TEST_ENV = {
    "EMBER_TEST_VULKAN": "optional" if VULKAN_MAY_BE_MISSING else "required",
    "LSAN_OPTIONS": "detect_leaks=0",
    # Mesa's shader cache is disabled, because Mesa would write it to the home
    # folder.
    "MESA_SHADER_CACHE_DISABLE": "true",
    "VK_ICD_FILENAMES": LAVAPIPE_ICD,
}
