"""What tests on Vulkan need."""

load("@vulkan//:defs.bzl", "LAVAPIPE_ICD")

# For `env`: the software device, whatever else the machine has. It leaks a little, and is unloaded
# before LeakSanitizer looks.
VULKAN_TEST_ENV = {
    "LSAN_OPTIONS": "detect_leaks=0",
    # It would write to the home folder.
    "MESA_SHADER_CACHE_DISABLE": "true",
    "VK_ICD_FILENAMES": LAVAPIPE_ICD,
}
