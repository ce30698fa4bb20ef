"""Counts test cases of `bazel test` runs: test_summary.py [--failed=CHECK]... (WHERE EVENTS.json BAZEL_EXIT_STATUS)...

The last line is "N passed, N failed, N skipped", of all runs together; CI reads it. The unit
is a test case where the test writes a JUnit file (GoogleTest does), the target
otherwise. WHERE, if not empty, follows what failed there. CHECK, which Bazel
does not run, counts as one failed. After the exit status 124 (`timeout` stopped
Bazel) the targets without a result are counted in a line "NOT RUN ..." and have
not failed.
"""

import json
import os
import sys
import urllib.parse
import xml.etree.ElementTree


# The exit status of `timeout` when it stopped the command.
STOPPED = 124


def cases(path):
    """(passed, skipped, names of the failed) of a test.xml; (0, 0, []) if it cannot be read."""
    try:
        root = xml.etree.ElementTree.parse(path).getroot()
    except (OSError, xml.etree.ElementTree.ParseError):
        return 0, 0, []
    passed, skipped, failed = 0, 0, []
    for case in root.iter("testcase"):
        # A case that was filtered out or disabled does not count; a case that skips itself does.
        if case.get("status") == "notrun" or case.get("result") == "suppressed":
            continue
        if case.get("result") == "skipped" or case.find("skipped") is not None:
            skipped += 1
            continue
        if case.find("failure") is not None or case.find("error") is not None:
            failed.append("%s.%s" % (case.get("classname", ""), case.get("name", "")))
        else:
            passed += 1
    return passed, skipped, failed


def count(events, bazel_status):
    """(passed, failed, skipped, targets without a result, one line each of the failed) of a run.

    A target that Bazel skips, as it does not fit the platform, is one skipped.
    """
    tests, results, skipped, broken = set(), {}, set(), set()
    if os.path.exists(events):
        for line in open(events, encoding="utf-8"):
            try:
                event = json.loads(line)
            except ValueError:  # The line is incomplete, because Bazel was killed while it wrote the line.
                continue
            ident = event.get("id", {})
            if "targetConfigured" in ident:
                if "testSize" in event.get("configured", {}):
                    tests.add(ident["targetConfigured"]["label"])
                elif event.get("aborted", {}).get("reason") == "SKIPPED":
                    skipped.add(ident["targetConfigured"]["label"])
            elif "targetCompleted" in ident:
                if event.get("aborted", {}).get("reason") == "SKIPPED":
                    skipped.add(ident["targetCompleted"]["label"])
            elif "actionCompleted" in ident and not event.get("action", {}).get("success"):
                broken.add(ident["actionCompleted"].get("label", "?"))
            elif "testResult" in ident and "testResult" in event:
                # If a shard was run again, the result of the later attempt replaces the earlier
                # one.
                key = ident["testResult"]
                shard = (key.get("run", 1), key.get("shard", 1))
                results.setdefault(key["label"], {})[shard] = event["testResult"]

    passed, failed, skipped_cases, missing, messages = 0, 0, len(skipped), 0, []
    for label in sorted((tests | set(results)) - skipped):
        statuses = {result.get("status", "NO_STATUS") for result in results.get(label, {}).values()}
        if bazel_status == STOPPED and statuses <= {"PASSED", "FLAKY", "NO_STATUS", "INCOMPLETE"} and (
            not statuses or statuses & {"NO_STATUS", "INCOMPLETE"}
        ):
            missing += 1
            continue
        if label not in results:
            failed += 1
            messages.append("%s: not built" % label)
            continue
        for result in results[label].values():
            status = result.get("status", "NO_STATUS")
            good, left_out, bad = 0, 0, []
            for output in result.get("testActionOutput", []):
                if output.get("name") == "test.xml":
                    uri = urllib.parse.urlparse(output.get("uri", ""))
                    good, left_out, bad = cases(urllib.parse.unquote(uri.path))
            skipped_cases += left_out
            if status in ("PASSED", "FLAKY"):
                # A test without a file of cases counts as one case; a test whose cases were all
                # skipped counts as skipped.
                passed += good
            else:
                passed += good if bad else 0
                failed += len(bad) or 1
                messages += ["%s: %s" % (label, name) for name in bad] or ["%s: %s" % (label, status)]
    if bazel_status == STOPPED:
        failed += len(broken)
        messages += ["%s: a build step failed" % label for label in sorted(broken)]
    if bazel_status not in (0, STOPPED) and not failed:
        failed = 1
        messages.append("bazel: exit status %d" % bazel_status)
    return passed, failed, skipped_cases, missing, messages


def main():
    checks = [argument for argument in sys.argv[1:] if argument.startswith("--failed=")]
    runs = sys.argv[1 + len(checks):]
    for check in checks:
        print("FAILED " + check[len("--failed="):])
    passed, failed, skipped = 0, len(checks), 0
    for i in range(0, len(runs), 3):
        where, events, status = runs[i:i + 3]
        good, bad, left_out, missing, messages = count(events, int(status))
        passed, failed, skipped = passed + good, failed + bad, skipped + left_out
        for message in messages:
            print("FAILED " + message + (" (on %s)" % where if where else ""))
        if int(status) == STOPPED:
            print("NOT RUN %d test targets: the time for them was over" % missing)
    print("%d passed, %d failed, %d skipped" % (passed, failed, skipped))
    return 1 if failed else 0


sys.exit(main())
