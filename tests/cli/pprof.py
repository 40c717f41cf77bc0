# SPDX-License-Identifier: MIT
"""Prints a profile of pprof by the public format's field numbers (github.com/google/pprof,
proto/profile.proto), without protobuf-c and our description of the messages:
"types TYPE/UNIT ... default", "file PATH BUILD-ID", and "stack a;b LINE;LINE VALUE ..." with
the thread before the outermost function, without inlined calls; "line FILE:LINE VALUE ..." of the
innermost code, and the number of samples.  A second argument: of so many stacks."""
import gzip
import sys


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    """Returns {number: [value, ...]} of a message: numbers, or bytes."""
    found, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        value, at = varint(data, at)
        if key & 7 == 2:
            value, at = data[at : at + value], at + value
            assert at <= len(data)
        else:
            assert key & 7 == 0
        found.setdefault(key >> 3, []).append(value)
    return found


def numbers(packed):
    values, at = [], 0
    while at < len(packed):
        value, at = varint(packed, at)
        values.append(value)
    return values


def one(message, number):
    return message.get(number, [0])[0]


def by_id(messages):
    table = {one(m, 1): m for m in map(fields, messages)}
    assert len(table) == len(messages) and 0 not in table
    return table


raw = open(sys.argv[1], "rb").read()
assert raw[:2] == b"\x1f\x8b"
profile = fields(gzip.decompress(raw))
texts = [t.decode() for t in profile[6]]
assert texts[0] == "" and len(texts) == len(set(texts))
files, locations, functions = (by_id(profile.get(n, [])) for n in (3, 4, 5))
types = [fields(t) for t in profile[1]]
print("types", *("/".join((texts[one(t, 1)], texts[one(t, 2)])) for t in types), texts[one(profile, 14)])
print("duration", one(profile, 10))
print("comment", *(texts[c] for packed in profile.get(13, []) for c in numbers(packed)))
for file in files.values():
    print("file", texts[one(file, 5)], texts[one(file, 6)])
stacks, sources, samples = {}, {}, 0
for sample in map(fields, profile.get(2, [])[: int(sys.argv[2]) if sys.argv[2:] else None]):
    label = fields(sample[3][0])
    assert texts[one(label, 1)] == "thread"
    names, lines = [texts[one(label, 2)]], []
    for number in reversed(numbers(sample[1][0])):
        location = locations[number]
        assert not one(location, 2) or one(location, 2) in files
        line = fields(location[4][-1])
        names.append(texts[one(functions[one(line, 1)], 2)])
        lines.append(str(one(line, 2)))
    values = numbers(sample[2][0])
    assert len(values) == len(types)
    samples += 1
    if len(names) > 1:
        inner = fields(locations[numbers(sample[1][0])[0]][4][0])
        source = texts[one(functions[one(inner, 1)], 4)].replace(" ", "_") + ":" + str(one(inner, 2))
        sources[source] = [a + b for a, b in zip(values, sources.get(source, [0] * len(values)))]
    stack = ";".join(names).replace(" ", "_"), ";".join(lines)
    stacks[stack] = [a + b for a, b in zip(values, stacks.get(stack, [0] * len(values)))]
for stack, values in stacks.items():
    print("stack", *stack, *values)
for source, values in sources.items():
    print("line", source, *values)
print("samples", samples)
