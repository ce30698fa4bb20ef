#!/usr/bin/env python3
"""Compares our chat templates with Jinja, for published templates.

    apt-get install python3-jinja2
    bazel build //llm/template:render
    tests/chat_templates/compare_jinja.py FOLDER...

Each FOLDER has files NAME.jinja; with NAME.json, an object of variables, the template is also rendered with these. Each
template is rendered with the conversations below, by Jinja as the transformers library sets it up, and by our engine.
Both must give the same text, or both must refuse. Prints what differs, and exits with 1 if anything does.

Published templates are not in this repository. Repositories that had some in 2026: chujiezheng/chat_templates,
huggingface/huggingface.js (packages/jinja/test/e2e.test.js), ggml-org/llama.cpp (models/templates).
"""

import argparse
import datetime
import difflib
import json
import os
import subprocess
import sys
import tempfile

import jinja2
import jinja2.ext
import jinja2.nodes
import jinja2.sandbox

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
TOOL = os.path.join(ROOT, "bazel-bin/llm/template/render")
NOW = datetime.datetime(2026, 11, 30, 12, 34, 56)

USER = {"role": "user", "content": "Hello, how are you?"}
ASSISTANT = {"role": "assistant", "content": "I'm doing great. How can I help you today?"}
MORE = {"role": "user", "content": "  Show me \"chat\" <b>templates</b> & 1,000 é 😀\n\n"}
SYSTEM = {"role": "system", "content": "You are a friendly chatbot.\nBe brief. "}
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the current weather",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "The city's name"},
                "unit": {"type": "string", "enum": ["celsius", "fahrenheit"], "default": None},
                "days": {"type": "array", "items": {"type": "integer"}},
            },
            "required": ["city"],
        },
    },
}
CALL = {"id": "call00001", "type": "function", "function": {"name": "get_weather", "arguments": {"city": "Paris", "days": [1, 2]}}}
CALLING = {"role": "assistant", "content": "", "tool_calls": [CALL]}
CALLING_NULL = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "name": "get_weather", "tool_call_id": "call00001", "content": "{\"celsius\": 21.5}"}
THINKING = {"role": "assistant", "content": "<think>\nHm, 2+2.\n</think>\n\nIt is 4.", "reasoning_content": "Hm."}
PARTS = {"role": "user", "content": [{"type": "text", "text": "What is this?"}, {"type": "image"}, {"type": "text", "text": "And this"}]}

CONVERSATIONS = {
    "user": {"messages": [USER]},
    "no_prompt": {"messages": [USER], "add_generation_prompt": False},
    "three": {"messages": [USER, ASSISTANT, MORE]},
    "system": {"messages": [SYSTEM, USER, ASSISTANT, MORE]},
    "answered": {"messages": [SYSTEM, USER, ASSISTANT], "add_generation_prompt": False},
    "tools": {"messages": [SYSTEM, USER], "tools": [WEATHER]},
    "call": {"messages": [USER, CALLING, RESULT], "tools": [WEATHER]},
    "call_null": {"messages": [SYSTEM, USER, CALLING_NULL, RESULT, ASSISTANT, MORE], "tools": [WEATHER, WEATHER]},
    "call_text": {"messages": [USER, {**CALLING, "tool_calls": [{**CALL, "function": {"name": "f", "arguments": "{\"a\": 1}"}}]}, RESULT]},
    "two_results": {"messages": [USER, {**CALLING, "tool_calls": [CALL, CALL]}, RESULT, RESULT, USER], "tools": [WEATHER]},
    "thinking": {"messages": [USER, THINKING, MORE]},
    "thinking_off": {"messages": [USER, THINKING, MORE], "enable_thinking": False},
    "thinking_on": {"messages": [SYSTEM, USER], "enable_thinking": True, "reasoning_effort": "high"},
    "parts": {"messages": [PARTS]},
    "two_users": {"messages": [USER, USER]},
    "empty": {"messages": []},
    "documents": {"messages": [USER], "documents": [{"title": "T", "text": "Some text", "content": "c"}]},
    "unknown_role": {"messages": [USER, {"role": "critic", "content": "No."}]},
    "no_content": {"messages": [{"role": "user"}]},
}


class GenerationTag(jinja2.ext.Extension):
    """The block that marks the text of the assistant; it has no effect here."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.Scope(body, lineno=line)


def environment():
    """Returns Jinja as the transformers library sets it up."""

    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    result = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[GenerationTag, jinja2.ext.loopcontrols])
    result.filters["tojson"] = tojson
    result.globals["raise_exception"] = raise_exception
    result.globals["strftime_now"] = NOW.strftime
    return result


def expected(template, variables):
    """Returns the text and the error, one of which is None."""
    try:
        return template.render(**variables), None
    except Exception as e:  # pylint: disable=broad-except
        return None, "%s: %s" % (type(e).__name__, e)


def found(tool, path, variables):
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as f:
        json.dump(variables, f, ensure_ascii=False)
        f.flush()
        done = subprocess.run([tool, path, f.name], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode == 0:
        return done.stdout.decode("utf-8"), None
    return None, done.stderr.decode("utf-8").strip() or "exit code %d" % done.returncode


def compare(tool, path, verbose):
    """Returns the number of conversations that both render, that both refuse, and that differ."""
    with open(path, encoding="utf-8", newline="") as f:
        source = f.read()
    conversations = dict(CONVERSATIONS)
    if os.path.exists(path[: -len("jinja")] + "json"):
        with open(path[: -len("jinja")] + "json", encoding="utf-8") as f:
            conversations["own"] = json.load(f)
    try:
        template = environment().from_string(source)
    except jinja2.exceptions.TemplateError as e:
        print("%s: Jinja does not parse it: %s" % (os.path.basename(path), e))
        return 0, 0, 0
    counts = [0, 0, 0]
    for name, conversation in conversations.items():
        variables = {"add_generation_prompt": True, "bos_token": "<s>", "eos_token": "</s>", "tools": None, "documents": None,
                     **conversation}
        text, error = expected(template, variables)
        our_text, our_error = found(tool, path, variables)
        if text is not None and text == our_text:
            counts[0] += 1
        elif text is None and our_text is None:
            counts[1] += 1
            if verbose:
                print("%s: %s: both refuse: %s / %s" % (os.path.basename(path), name, error, our_error))
        else:
            counts[2] += 1
            print("%s: %s differs" % (os.path.basename(path), name))
            if text is None or our_text is None:
                print("  Jinja: %r\n  ours:  %r" % (error or text[:200], our_error or our_text[:200]))
            else:
                lines = difflib.unified_diff(text.splitlines(True), our_text.splitlines(True), "jinja", "ours", n=1)
                print("".join("  " + repr(line) + "\n" for line in list(lines)[:12]), end="")
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--tool", default=TOOL)
    parser.add_argument("--verbose", action="store_true", help="Prints the errors of both where both refuse.")
    arguments = parser.parse_args()
    total = [0, 0, 0]
    templates = 0
    for folder in arguments.folders:
        for name in sorted(n for n in os.listdir(folder) if n.endswith(".jinja")):
            counts = compare(arguments.tool, os.path.join(folder, name), arguments.verbose)
            templates += any(counts)
            total = [a + b for a, b in zip(total, counts)]
    print("%d templates: %d texts equal, %d refused by both, %d differ" % (templates, *total))
    sys.exit(1 if total[2] else 0)


if __name__ == "__main__":
    main()
