# SPDX-License-Identifier: MIT
# What a page of --format=html holds, in the words of other formats: html_page.py WHAT PAGE [FILE]
import base64, html.parser, json, sys


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.texts, self.open = [], {}, None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.open = "data" if values.get("id") == "data" else tag
        self.tags.append(tag)
        assert not {"src", "srcset", "action"} & set(values), attributes
        assert values.get("href", "#").startswith("#"), attributes

    def handle_data(self, text):
        self.texts[self.open] = self.texts.get(self.open, "") + text


def numbers(text):
    value = shift = 0
    for byte in base64.b64decode(text, validate=True):
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            yield value
            value = shift = 0
    assert shift == 0


def slices(data, thread):
    """Yields (depth, begin, end, symbol, insns, cycles, folded) in ns of perf's clock."""
    words, now, count, marks = numbers(thread["data"]), int(data["origin"]), 0, 0
    for first in words:
        now += next(words)
        if first & 64:
            assert data["texts"][next(words)]
            marks += 1
            continue
        begin, symbol = now - next(words), next(words)
        insns, cycles = (next(words), next(words)) if first & 1 else (0, 0)
        folded = (next(words), next(words))[0] if first & 2 else 0
        yield first // 256, begin, now, data["symbols"][symbol], insns, cycles, folded
        count += 1
    assert (count, marks) == (thread["slices"], thread["marks"])


page = Page(open(sys.argv[2], "rb").read().decode())
data = json.loads(page.texts["data"])
texts = data["texts"]
what = sys.argv[1]
if what == "slices":
    for thread in data["threads"]:
        for depth, begin, end, symbol, *_ in slices(data, thread):
            print("%d/%d" % (thread["pid"], thread["tid"]), depth, begin, end, texts[symbol[0]])
elif what == "costs":
    for thread in data["threads"]:
        for depth, begin, end, symbol, insns, cycles, folded in slices(data, thread):
            line = "%s:%d" % (texts[symbol[1] - 1], symbol[3]) if symbol[1] else "-"
            print(texts[symbol[0]], begin, end, insns, cycles, folded, line)
elif what == "events":
    for thread in data["events"]:
        for depth, begin, end, symbol, *_ in slices(data, thread):
            args = " " + texts[symbol[1] - 1] if symbol[1] else ""
            print("%d/%d" % (thread["pid"], thread["tid"]), depth, begin, end, texts[symbol[0]] + args)
elif what == "counters":
    for counter in data["counters"]:
        now, points = int(data["origin"]) + counter["begin"], counter["points"]
        for after, value in zip(points[::2], points[1::2]):
            now += after
            print(now, counter["pid"], counter["name"], "%s=%s" % (counter["unit"], value))
elif what == "marks":
    print(sum(thread["marks"] for thread in data["events"]))
elif what == "folded":
    names, own = [""], [0]
    for caller, text, weight, calls in data["stacks"]:
        names.append((names[caller] + ";" if caller else "") + texts[text])
        own.append(weight)
        own[caller] -= weight
    # What is left out of the graph counts in the nearest caller that is in it.
    wanted, left_out, most = dict.fromkeys(names[1:], 0), {}, -own[0] // 20000
    for line in open(sys.argv[3]):
        name, weight = line.rsplit(" ", 1)
        while name not in wanted:
            left_out[name] = left_out.get(name, 0) + int(weight)
            name = name.rpartition(";")[0]
        wanted[name] += int(weight)
    assert wanted == dict(zip(names[1:], own[1:])) and sum(map(bool, wanted.values())) > 20
    assert max(left_out.values(), default=0) <= most
elif what == "functions":
    json.dump(data["functions"], sys.stdout, indent=1, sort_keys=True)
elif what == "texts":
    print(*map(ascii, texts), sep="\n")
elif what == "tags":
    print(*page.tags, sep="\n")
else:
    print(page.texts[what])
