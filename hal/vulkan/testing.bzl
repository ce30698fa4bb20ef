"""What tests on Vulkan need."""

load("@vulkan//:defs.bzl", "LAVAPIPE_ICD")

# The software device is not installed here: tests are skipped, and say so.
VULKAN_MAY_BE_MISSING = not LAVAPIPE_ICD

# For `env`: the software device, whatever else the machine has. It leaks a little, and is unloaded
# before LeakSanitizer looks.
VULKAN_TEST_ENV = {
    "EMBER_TEST_VULKAN": "optional" if VULKAN_MAY_BE_MISSING else "required",
    "LSAN_OPTIONS": "detect_leaks=0",
    # It would write to the home folder.
    "MESA_SHADER_CACHE_DISABLE": "true",
    "VK_ICD_FILENAMES": LAVAPIPE_ICD,
}
