"""is_possible_flag: a setting that a transition can change, which Bazel 4 does not allow for --define."""

def _impl(_ctx):
    return []

is_possible_flag = rule(
    implementation = _impl,
    build_setting = config.bool(flag = True),
)
