#!/usr/bin/env python3
"""Writes llm/template/testdata/cases.json: templates of our own with what Jinja makes of them.

    apt-get install python3-jinja2
    tests/chat_templates/make_cases.py

Each case is a template, its variables and Jinja's text; the text is null if Jinja refuses the template.
"""

import json
import os

import compare_jinja as jinja

DATA = os.path.join(jinja.ROOT, "llm/template/testdata/cases.json")

VARIABLES = {
    "s": "Hello, Wörld! ", "n": 7, "f": 2.5, "t": True, "none": None, "l": [3, 1, 2], "words": ["b", "A", "c", "a"],
    "d": {"b": 1, "a": [1, {"x": None}], "items": "own"}, "e": [], "q": "it's \"q\" \\ \n",
    "users": [{"name": "Bo", "age": 3, "tags": ["x"]}, {"name": "al", "age": 20, "tags": []}, {"name": "Cy", "age": 3}],
}

EXPRESSIONS = """
s, n, f, t, none, l, d, e, q, users
1 + 2 * 3 - 4 / 2
7 // 2, -7 // 2, 7 % 3, -7 % 3, 2 ** 10, 2 ** -1, 7.5 // 2, -7.5 % 2
1 / 3, 1e20, 1.5e-7, 100.0, 0.1 + 0.2, 1e15, 123456789012345680.0
"a" "b" ~ 1 ~ none ~ True ~ 1.0
"a" + "b", "ab" * 3, [1] * 2, [1] + [2], (1,) + (2, 3)
1 < 2 < 3, 1 < 2 > 3, 1 == 1.0, "a" < "b", [1, 2] < [1, 3], not 1 == 2
t and none or s, none and t, not t, not none and t
"x" if t else "y", "x" if none, ("x" if none else "y") ~ "z"
1 in l, 9 not in l, "ell" in s, "a" in d, "z" in d
d.b, d["a"], d.items is callable, d["items"], d.missing, d.missing is defined, d.a[1].x is none
l[0], l[-1], l[9] is undefined, s[0], s[-2], s[99] is defined, l.0
l[1:], l[:-1], l[::-1], s[1:4], s[::-1], s[-7:-2], l[5:], l[::2], l[2:0:-1], s[:0]
s.strip() | upper, s.lower(), s.title(), "hello wORLD".capitalize(), "aBc".swapcase()
s.split(), s.split(","), "a,b,,c".split(",", 1), "a b  c".rsplit(" ", 1), " a b ".split(None, 1), "a,b,c".rsplit(",", 1)
s.startswith("He"), s.startswith(("x", "H")), s.endswith(" "), s.find("l"), s.rfind("l"), s.find("zz"), s.count("l"), "".count("")
"xxaxx".strip("x"), "xxaxx".lstrip("x"), "xxaxx".rstrip("x"), "abcabc".replace("b", "Z"), "aaa".replace("a", "b", 2), "ab".replace("", "-")
"a-b-c".partition("-"), "a-b-c".rpartition("-"), "abc".partition("x"), "l1\\nl2\\r\\nl3".splitlines(), "a\\n".splitlines(true)
"-".join(["a", "b"]), "ab".join([]), "7".zfill(3), "-7".zfill(4), "a".ljust(3) ~ "|", "a".rjust(3), "abc".center(10) ~ "|", "abc".center(6) ~ "|"
"12".isdigit(), "1a".isdigit(), "ab".isalpha(), "".isalpha(), " ".isspace(), "AB".isupper(), "Ab".islower(), "a1".isalnum()
"prefix-x".removeprefix("prefix-"), "x.txt".removesuffix(".txt"), "{} and {0}".format(1) if false else "{0}-{1}-{name}".format(1, "b", name="c")
"%s is %d%%" % ("x", 5), "%r" % "x", "%s" | format("y")
d.get("b"), d.get("zz"), d.get("zz", 5), d.keys() | list, d.values() | list, d.items is string
{"a": 1, "b": [2]}, {"a": 1}.items() | list, {1: "x", none: "y"}[1], {}, {"x": {"y": 1}}.x.y
dict(a=1, b="c"), dict({"a": 1}, b=2), range(4) | list, range(1, 10, 3) | list, range(5, 0, -2) | list, range(0) | list
l | sort, l | sort(reverse=true), words | sort, words | sort(case_sensitive=true), users | sort(attribute="age") | map(attribute="name") | list
l | sum, l | min, l | max, l | first, l | last, l | length, s | length, d | length, e | first is undefined, l | reverse | list, s | reverse
words | join, words | join(", "), users | join("/", attribute="name"), users | map(attribute="age") | sum, users | sum(attribute="age")
users | selectattr("age", "equalto", 3) | map(attribute="name") | list, users | rejectattr("tags") | list | length, users | selectattr("tags") | list | length
l | select("odd") | list, l | reject("gt", 1) | list, [0, 1, "", "a"] | select | list, words | map("upper") | list, words | map("replace", "a", "x") | list
words | unique | list, [1, 1.0, 2, "1"] | unique | list, users | groupby("age") | list | length, l | batch(2) | list, l | batch(2, 0) | list
d | dictsort, d | items | list | length, {"b": 2, "a": 3} | dictsort(by="value"), {"b": 2, "A": 3} | dictsort
s | trim, s | upper, s | lower, s | title, "hello-world (foo)" | title, s | capitalize, s | replace("l", "L"), "a b" | wordcount
"3" | int, "x" | int, "x" | int(5), 3.9 | int, "3.7" | int, "ff" | int(0, 16), "2.5" | float, "x" | float, -3 | abs, 2.567 | round(2), 2.5 | round, 3.5 | round, 2.1 | round(0, "ceil"), 42 | string ~ "!"
none | default("x"), missing | default("x"), "" | default("x", true), missing | d("y"), missing.x is defined if missing is defined else "no"
"a\\nb\\n\\nc" | indent, "a\\nb" | indent(2), "a\\nb" | indent(2, true), "a\\n\\nb" | indent(2, blank=true), "a\\nb" | indent("> ")
"<a href='x'>&\\"</a>" | e
"x" | safe
"foo bar baz qux" | truncate(9), "foo bar baz qux" | truncate(9, true), "foo bar baz qux" | truncate(11), "foo bar" | truncate(4, leeway=0)
d | tojson, d | tojson(indent=2), [1, 2.0, "é\\n\\u0001", none, true] | tojson, {"b": 1, "a": 2} | tojson(sort_keys=true), "é" | tojson(ensure_ascii=true), [] | tojson(indent=4), {"a": [], "b": {}} | tojson(indent=1), [1,2] | tojson(separators=(",", ":"))
users | map(attribute="name") | map("lower") | join(",") | upper, users | map(attribute="tags", default="-") | list, users | map(attribute="tags.0", default="-") | list
1 is integer, true is integer, 1.0 is float, 1 is number, "a" is string, l is sequence, d is mapping, d is iterable, none is none, t is true, t is boolean, 4 is even, 4 is divisibleby 2, 4 is divisibleby(3)
"a" is in ["a"], 3 is gt 2, 3 is lt(2), 1 is eq 1, 1 is ne 2, "AB" is upper, "ab" is lower, range is callable, "upper" is filter, "odd" is test, 1 is sameas 1, s is defined and t is not none
x.y.z
missing + 1
missing()
none + "a"
"a" + 1
l | unknown_filter
l.append(4)
d.update({"a": 1})
1 // 0
s.nothing()
raise_exception("no: " ~ n)
none.x
none | length
none | tojson
missing | tojson
missing | length, missing | list, missing ~ "x", missing | upper, missing == missing, missing | join
(1, 2), (1,), (), ((1, 2), [3, (4,)])
[none, true, 1.0, "it's", 'q"q', "both'\\""], {"k'": (1,)}
'\\x41\\u00e9\\t|\\\\|\\q|\\''
1_000 + 0, 10.25e2, 0.5
-2 ** 2, -2 | abs, (-2) | abs, +3, - -3, not not t
strftime_now("%Y-%m-%d %H:%M:%S %A %d %b %j")
range(3) | map("string") | join("-"), range(10)[2:5] | list, range(3) | last
namespace(a=1).a, namespace({"b": 2}).b
s is string if t else none is string
"abc"[1] | upper ~ "x" * 2
["x"] is not string, 5 is not even
l == [3, 1, 2], l == (3, 1, 2), d == d, {"a": 1, "b": 2} == {"b": 2, "a": 1}
true == 1, false == 0, true + 1, [true, 1] | unique | list
"a" is defined == true
"Ünïcödé" | upper, "ÜNÏ" | lower, "ß" | length, "😀x" | length, "😀x"[1], "日本語"[::-1]
"a,b".split(",")[0], "a b".split()[-1], (s | trim).split(" ")[1], [1, 2, 3][1:][0]
[[1, 2], [3]] | sum(start=[]), [["a", 1]] | first | first, [3, 1] | sort | first, "cba" | sort | join, "abc" | list, "abc" | first, d | first, d | list
"a" ~ ("b", "c") | join("-"), ("b", "c") | join("-"), "x" * n, "-" * 0, 3 * [1]
""".strip().split("\n")

TEMPLATES = [
    "{% for x in l %}{{ loop.index }}/{{ loop.index0 }}/{{ loop.revindex }}/{{ loop.revindex0 }}/{{ loop.first }}/{{ loop.last }}/{{ loop.length }}:{{ x }};{% endfor %}",
    "{% for x in l if x > 1 %}{{ loop.index }}{{ x }}{% else %}none{% endfor %}|{% for x in e %}x{% else %}empty{% endfor %}",
    "{% for k, v in {'a': 1, 'b': 2}.items() %}{{ k }}={{ v }}{{ ', ' if not loop.last }}{% endfor %}",
    "{% for (a, b) in [(1, 2), (3, 4)] %}{{ a + b }} {% endfor %}",
    "{% for x in l %}{{ loop.previtem }}<{{ x }}>{{ loop.nextitem }} {{ loop.cycle('a', 'b') }} {{ loop.changed(x > 1) }};{% endfor %}",
    "{% for x in [1, [2, [3]]] recursive %}{% if x is iterable %}({{ loop(x) }}){% else %}{{ x }}@{{ loop.depth }}{% endif %}{% endfor %}",
    "{% for x in range(9) %}{% if x == 2 %}{% continue %}{% endif %}{% if x == 5 %}{% break %}{% endif %}{{ x }}{% endfor %}",
    "{% set x = 1 %}{% for i in [1, 2] %}{% set x = x + i %}{{ x }},{% endfor %}{{ x }}",
    "{% set ns = namespace(x=1) %}{% for i in [1, 2] %}{% set ns.x = ns.x + i %}{% endfor %}{{ ns.x }}",
    "{% set x %}a{{ n }}b{% endset %}{{ x }}|{% set y | upper %}abc{% endset %}{{ y }}",
    "{% set a, b = 1, 2 %}{{ a }}{{ b }}{% set c = (a, b) %}{{ c }}{% set (g, h) = [8, 9] %}{{ g }}{{ h }}",
    "{% if n > 7 %}a{% elif n == 7 %}b{% else %}c{% endif %}{% if none %}x{% endif %}{% if not e %}y{% endif %}",
    "{% macro f(a, b=2, c=a) %}{{ a }}-{{ b }}-{{ c }}{% endmacro %}{{ f(1) }} {{ f(1, c=5) }} {{ f(b=1, a=0) }} {{ f() }}",
    "{% macro f(a) %}{{ a }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ f(1, 2, 3, x=4) }}",
    "{% macro f() %}[{{ caller(1) }}]{% endmacro %}{% call(x) f() %}c{{ x }}{% endcall %}",
    "{% macro fact(k) %}{% if k < 2 %}1{% else %}{{ k * (fact(k - 1) | int) }}{% endif %}{% endmacro %}{{ fact(5) }}",
    "{% macro show(m) -%}\n  {{ m.name }}\n{%- endmacro %}{% for u in users %}{{ show(u) }};{% endfor %}",
    "{% filter upper | replace('A', 'x') %}a{{ s }}{% endfilter %}",
    "{% with a = 1, b = n %}{{ a }}{{ b }}{% endwith %}{{ a is defined }}",
    "{% raw %}{{ x }}{% y %}{# z #}{% endraw %}|{%- raw -%} a {%- endraw -%} |",
    "{# comment #}a{#- c -#} b {#+ d #}\n  {# e #}\n  f",
    "  {% if t %}\n  a\n  {% endif %}\n b",
    "  {%+ if t %}\n  a\n  {%+ endif %}\n b",
    "  {%- if t -%}\n  a\n  {%- endif -%}\n b",
    "x {{ n }}  {{- n -}}  y\n{{ n }}\n\nz\n",
    "{{ n }}\n{% if t %}\nline\n{% endif %}\n\n{% for x in l %}\n- {{ x }}\n{% endfor %}\nend\n\n",
    "a\r\nb\rc\n{% if t %}\r\nd\r\n{% endif %}\r\ne",
    "{{ '{% not a tag %}' }}{{ \"}}\" }}{{ {'a': {'b': 1}}['a']['b'] }}",
    "a { b } { {c} {%if t%}d{%endif%}%}}} #}",
    "{% generation %}{{ s }}{% endgeneration %}x",
    "{% for m in users %}{% if loop.first %}{% set x = m.name %}{% endif %}{{ x }}{% endfor %}",
    "{% if t %}{% set z = 5 %}{% endif %}{{ z }}{% if none %}{% set w = 5 %}{% endif %}{{ w }}",
    "{%- set x = 'a' -%}\n\n   {{- x }}{{ x -}}\n\n b {%- if t %} c {%- endif %} d",
    "{% for a in [1,2] %}{% for b in [3,4] %}{{ loop.index }}{{ a }}{{ b }} {% endfor %}{{ loop.index }};{% endfor %}",
    "{% set l2 = [] %}{% for x in l %}{% set l2 = l2 + [x] %}{% endfor %}{{ l2 }}",
    "{% set ns = namespace(l=[]) %}{% for x in l %}{% set ns.l = ns.l + [x * 2] %}{% endfor %}{{ ns.l }}",
    "{% if x %}a{% endif", "{{ 1 + }}", "{% for x in %}{% endfor %}", "{% if t %}a", "{{ 'abc }}", "{% unknown %}", "{{ (1 }}", "{% endfor %}",
    "{{ 1 ~ }}", "{% set 1 = 2 %}", "{% macro %}{% endmacro %}", "{{ a.b. }}", "{# open", "{% raw %} a", "{{ x | }}", "{{ x is }}", "{% else %}",
    "{% include 'x' %}", "{{ [1, 2 }}", "{{ {1} }}", "{{ $ }}",
]

CHATS = [
    # A template in the form of ChatML.
    "{% for m in messages %}{{ '<|start|>' + m['role'] + '\\n' + m['content'] + '<|end|>' + '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|start|>assistant\\n' }}{% endif %}",
    # A template whose roles must alternate. An optional system message joins
    # the first one.
    "{%- if messages[0].role == 'system' %}\n    {%- set system = messages[0].content | trim + '\\n\\n' %}\n    {%- set messages = messages[1:] %}\n"
    "{%- else %}\n    {%- set system = '' %}\n{%- endif %}\n{{ bos_token }}\n{%- for message in messages %}\n"
    "    {%- if (message.role == 'user') != (loop.index0 % 2 == 0) %}\n        {{- raise_exception('Roles must alternate.') }}\n    {%- endif %}\n"
    "    {%- if message.role == 'user' %}\n        {{- '[A] ' + (system if loop.first else '') + message.content | trim + ' [/A]' }}\n"
    "    {%- elif message.role == 'assistant' %}\n        {{- ' ' + message.content + eos_token }}\n    {%- endif %}\n{%- endfor %}\n",
    # A template with tools as JSON, their calls and the results of calls.
    "{%- macro render(tool) %}\n{{ tool | tojson(indent=4) }}\n{% endmacro -%}\n{%- if tools %}\n    {{- '# Tools\\n' }}\n    {%- for tool in tools %}\n"
    "        {{- render(tool.function) }}\n    {%- endfor %}\n{%- endif %}\n{%- set ns = namespace(last=-1) %}\n{%- for m in messages %}\n"
    "    {%- if m.role == 'user' %}{% set ns.last = loop.index0 %}{% endif %}\n{%- endfor %}\n{%- for m in messages %}\n"
    "    {%- set content = m.content if m.content is string else '' %}\n    {%- if m.role == 'tool' %}\n        {{- '<result>' + content + '</result>' }}\n"
    "    {%- elif m.tool_calls is defined and m.tool_calls %}\n        {%- for call in m.tool_calls %}\n"
    "            {{- '<call>' ~ call.function.name ~ ' ' ~ (call.function.arguments if call.function.arguments is string else call.function.arguments | tojson) ~ '</call>' }}\n"
    "        {%- endfor %}\n    {%- elif '</think>' in content and loop.index0 < ns.last %}\n        {{- content.split('</think>')[-1].lstrip('\\n') }}\n"
    "    {%- else %}\n        {{- '<' ~ m.role ~ '>' ~ content ~ '\\n' }}\n    {%- endif %}\n{%- endfor %}\n{%- if add_generation_prompt %}\n"
    "    {{- '<assistant>' }}\n    {%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\\n\\n</think>' }}{% endif %}\n{%- endif %}",
    # A template with the date, and with messages that consist of parts.
    "{{ 'Today: ' ~ strftime_now('%d %b %Y') }}\n{% for m in messages %}\n{% if m.content is string %}\n{{ m.role | upper }}: {{ m.content }}\n{% else %}\n"
    "{% for part in m.content %}\n{% if part['type'] == 'image' %}\n<image {{ loop.index }}>\n{% else %}\n{{ part.text | default('?') }}\n{% endif %}\n{% endfor %}\n"
    "{% endif %}\n{% endfor %}\n",
]


def main():
    environment = jinja.environment()
    cases = []

    def add(source, variables):
        """Adds a case; without variables of its own it has those of all."""
        try:
            text = environment.from_string(source).render(**(variables or VARIABLES))
        except Exception:  # pylint: disable=broad-except
            text = None
        own = {"variables": variables} if variables else {}
        cases.append({"template": source, **own, "text": text})

    for expression in EXPRESSIONS:
        add("{{ (%s,) }}" % expression if ", " in expression else "{{ %s }}" % expression, None)
    for source in TEMPLATES:
        add(source, None)
    for source in CHATS:
        for conversation in jinja.CONVERSATIONS.values():
            add(source, {"add_generation_prompt": True, "bos_token": "<s>", "eos_token": "</s>", **conversation})
    os.makedirs(os.path.dirname(DATA), exist_ok=True)
    with open(DATA, "w", encoding="utf-8") as f:
        f.write('{"variables": %s,\n"cases": [\n' % json.dumps(VARIABLES, ensure_ascii=False))
        f.write(",\n".join(json.dumps(case, ensure_ascii=False) for case in cases))
        f.write("\n]}\n")
    print("%d cases, %d of them refused" % (len(cases), sum(c["text"] is None for c in cases)))


if __name__ == "__main__":
    main()
