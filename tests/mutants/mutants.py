#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Change one token of a product file, and see whether the unit programs of its folder fail.

make mutants [SEED=n] [COUNT=n] [FOLDER=folder[/file]]

Each mutant is compiled and linked in a temporary folder; the build is only read.  A mutant counts if
it compiles without warnings, into other code than the original.  SEED chooses the mutants.  Unit
programs of src/ that run the whole program get one with the mutant.
"""
import itertools
import mmap
import os
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor

SOURCE, MAKE, COMPILE, JOBS = sys.argv[1:5]
SEED = os.environ.get("SEED") or "1"
COUNT = int(os.environ.get("COUNT") or 100)
FOLDER = (os.environ.get("FOLDER") or "").rstrip("/")
PRODUCT = ("base", "decoder", "symbols", "writer", "reader", "overlays", "src")
SCRATCH = tempfile.mkdtemp(prefix="mutants-")
# A program that waits forever; the time of a loop is RLIMIT_CPU's.
CLOCK_SECONDS = 120
# Seconds of CPU time without a change.
CPU_MOST = 300

TOKEN = re.compile(
    r"(?P<space>\s+|/\*.*?\*/|//[^\n]*)|(?P<text>\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*')"
    r"|(?P<number>(?:0[xX][0-9a-fA-F]+|[0-9]+)[uUlL]*\b)|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<sign>->|\+\+|--|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\.\.\.|.)", re.S)
OTHER = {
    "comparison": {"==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">"},
    "operator": {"&&": "||", "||": "&&", "+": "-", "-": "+", "/": "*", "%": "/", "<<": ">>",
                 ">>": "<<", "&": "|", "|": "&", "^": "|", "+=": "-=", "-=": "+=", "|=": "&=",
                 "&=": "|=", "++": "--", "--": "++"},
    "constant": {"true": "false", "false": "true"},
}
KINDS = ("comparison", "constant", "operator", "negation", "arguments", "statement")
NOT_CALLS = {"if", "while", "for", "switch", "return", "sizeof", "defined", "__attribute__"}
# Their results do not depend on the order of their arguments.
SYMMETRIC = {"MIN", "MAX", "alloc_zeroed"}
# More room than needed has no effect.
ROOMS = {"alloc_zeroed", "alloc_grow", "ARRAY_GROW", "ARRAY_GROW_ZEROED", "big_array_grow"}
ASSERTIONS = {"assert", "static_assert", "_Static_assert"}
HINT = "__builtin_expect"
DECLARES = {"struct", "enum", "union", "static", "const", "unsigned", "char", "int", "long", "void",
            "bool", "double"}
TYPES = DECLARES | {"case", "default", "typedef", "extern", "goto", "do", "else"}


class Token:
    def __init__(self, kind, text, begin):
        self.kind, self.text, self.begin, self.end = kind, text, begin, begin + len(text)


def tokens_of(text):
    # Lines of the preprocessor become spaces, so that offsets remain.
    text = re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.M)
    return [Token(m.lastgroup, m[0], m.start()) for m in TOKEN.finditer(text)
            if m.lastgroup != "space"]


def closing(tokens, at):
    """The index of the bracket that closes tokens[at]."""
    depth = 0
    for i in range(at, len(tokens)):
        depth += tokens[i].text in ("(", "[", "{")
        depth -= tokens[i].text in (")", "]", "}")
        if depth == 0:
            return i
    return len(tokens) - 1


def bodies(tokens):
    """Stretches of tokens that are functions' bodies."""
    i = 0
    while i < len(tokens):
        if tokens[i].text in ("(", "[", "{"):
            end = closing(tokens, i)
            if tokens[i].text == "{" and i and tokens[i - 1].text == ")":
                yield tokens[i:end + 1]
            i = end
        i += 1


def arguments_of(tokens, begin, end):
    """The arguments between brackets, as offsets in the text."""
    first, depth = begin + 1, 0
    for i in range(begin + 1, end + 1):
        if i == end or (tokens[i].text == "," and depth == 0):
            if i > first:
                yield tokens[first].begin, tokens[i - 1].end
            first = i + 1
        depth += tokens[i].text in ("(", "[", "{")
        depth -= tokens[i].text in (")", "]", "}")


def is_room(body, i):
    """Whether body[i] is in the size of an array, or of memory to allocate."""
    depth = 0
    for at in range(i - 1, -1, -1):
        depth += body[at].text in (")", "]")
        depth -= body[at].text in ("(", "[")
        if body[at].text in (";", "{", "}"):
            return False
        if depth < 0 and body[at].text == "(" and body[at - 1].text in ROOMS:
            return True
        if depth < 0 and body[at].text == "[":
            break
    while at > 0 and body[at].text not in (";", "{", "}", "="):
        at -= 1
    first = body[at + 1].text
    return body[at].text != "=" and (first in DECLARES or first.endswith("_t"))


def without_hints(tokens):
    """The tokens without what a compiler should expect."""
    hints = []
    for i, token in enumerate(tokens):
        if token.text == HINT:
            hints.append(list(arguments_of(tokens, i + 1, closing(tokens, i + 1)))[-1])
    return [t for t in tokens if not any(begin <= t.begin < end for begin, end in hints)]


def number_after(text):
    digits = re.match(r"0[xX][0-9a-fA-F]+|[0-9]+", text)[0]
    value = int(digits, 8 if re.fullmatch(r"0[0-7]+", digits) else 0) + 1
    return (hex(value) if digits[:2] in ("0x", "0X") else str(value)) + text[len(digits):]


def is_statement(body, i, end):
    """Whether body[i:end] is an expression, or a jump."""
    names = [body[i].text, body[i + 1].text]
    if names[0] in TYPES or body[i].kind not in ("name", "sign") or end - i < 1:
        return False
    if names[0] in ("break", "continue", "return"):
        return True
    if body[i + 1].kind == "name" or (names[1] == "*" and body[i + 2].kind == "name"):
        return False
    return any(t.text == "(" or t.text.endswith("=") or t.text in ("++", "--") for t in body[i:end])


def sites_of(text):
    """Every possible change: kind, begin, end, new text."""
    for body in map(without_hints, bodies(tokens_of(text))):
        skip = -1
        for i, token in enumerate(body[:-1]):
            after, before = body[i + 1], body[i - 1]
            if token.text in ASSERTIONS and after.text == "(":
                skip = closing(body, i + 1)
            if i <= skip:
                continue
            binary = before.kind in ("name", "number") and before.text != "return" or before.text in ")]"
            if token.kind == "number" and not is_room(body, i):
                yield "constant", token.begin, token.end, number_after(token.text)
            for kind, others in OTHER.items():
                if token.text in others and (kind != "operator" or binary or token.text in ("++", "--")):
                    yield kind, token.begin, token.end, others[token.text]
            if token.text == "!":
                yield "negation", token.begin, token.end, ""
            if token.text in ("if", "while") and after.text == "(":
                end = closing(body, i + 1)
                yield "negation", after.begin, body[end].end, "(!" + text[after.begin:body[end].end] + ")"
            if token.kind == "name" and token.text not in NOT_CALLS | SYMMETRIC | {HINT} and after.text == "(":
                found = list(arguments_of(body, i + 1, closing(body, i + 1)))
                for a, b in zip(found, found[1:]):
                    if text[a[0]:a[1]] != text[b[0]:b[1]]:
                        yield ("arguments", a[0], b[1],
                               text[b[0]:b[1]] + text[a[1]:b[0]] + text[a[0]:a[1]])
            if before.text in (";", "{", "}", ")", "else", ":"):
                end = i
                while end < len(body) - 1 and body[end].text not in (";", "{", "}"):
                    end += 1
                if body[end].text == ";" and end > i and is_statement(body, i, end):
                    yield "statement", token.begin, body[end].end, ";"


class Mutant:
    def __init__(self, path, text, site):
        self.path, self.kind, begin, end, new = path, *site
        self.text = text[:begin] + new + text[end:]
        self.line = text.count("\n", 0, begin) + 1
        last = text.count("\n", 0, end) + 1
        self.old = " ".join(" ".join(text.split("\n")[self.line - 1:last]).split())
        after = self.text.split("\n")[self.line - 1:last - text[begin:end].count("\n") + new.count("\n")]
        self.new = " ".join(" ".join(after).split())
        self.killer = None

    def key(self):
        return self.path, self.old, self.new

    def __str__(self):
        return f"{self.path}:{self.line}: {self.kind}\n- {self.old}\n+ {self.new}"


def equivalents():
    """Mutants that were read: path, '- ' line, '+ ' line, reason."""
    with open(f"{os.path.dirname(os.path.abspath(__file__))}/equivalent") as f:
        text = "".join(line for line in f if not line.startswith("#"))
    for record in filter(None, re.split(r"\n\s*\n", text.strip())):
        path, old, new, reason = record.split("\n", 3)
        assert old.startswith("- ") and new.startswith("+ ") and reason, record
        yield path, old[2:], new[2:]


def files_below(folder):
    if folder.endswith(".c"):
        return [folder]
    return sorted(os.path.relpath(os.path.join(d, f), SOURCE)
                  for d, _, files in os.walk(f"{SOURCE}/{folder}") for f in files if f.endswith(".c"))


def folder_of(path):
    parts = path.split("/")
    return "/".join(parts[:3 if parts[:2] == ["src", "formats"] else 2][:len(parts) - 1])


def draw(folder, known):
    """Mutants of a folder in the order of the seed, each once."""
    files = [f for f in files_below(folder) if FOLDER or folder_of(f) == folder]
    by_kind = {kind: [] for kind in KINDS}
    for path in files:
        with open(f"{SOURCE}/{path}") as f:
            text = f.read()
        for site in sites_of(text):
            by_kind[site[0]].append((path, text, site))
    rng = random.Random(f"{SEED} {folder}")
    for sites in by_kind.values():
        rng.shuffle(sites)
    while any(by_kind.values()):
        kind = rng.choice([k for k in KINDS if by_kind[k]])
        mutant = Mutant(*by_kind[kind].pop())
        if mutant.key() not in known:
            yield mutant


def limits(cpu):
    def apply():
        # A program may raise the limit for its own children: annotate's objdump.
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, CPU_MOST))
        for what, value in ((resource.RLIMIT_AS, 8 << 30), (resource.RLIMIT_FSIZE, 1 << 30),
                            (resource.RLIMIT_CORE, 0)):
            resource.setrlimit(what, (value, value))
    return apply


# Texts of unit programs that run the whole program.
WHOLE, RUNS_WHOLE = "ptrace2ftf", (b"tests/support/ptrace2ftf-segments\0", b"%s/ptrace2ftf ")


class Program:
    """A unit program: how it is linked, and how it is run."""
    def __init__(self, name, link):
        self.name, self.link, self.cpu, self.fork = name, link, None, "no"

    def has(self, symbols):
        """Whether it defines one of them; names of declarations do not harm."""
        with open(self.name, "rb") as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return any(data.find(s + b"\0") >= 0 for s in symbols)

    def runs_whole(self):
        with open(self.name, "rb") as f, mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return any(data.find(text) >= 0 for text in RUNS_WHOLE)

    def build(self, changed, output):
        """
        The object comes before the archives, which have the original of its symbols.  Returns
        False if the program cannot have it.
        """
        words = [output if w == self.name else w for w in self.link]
        at = words.index(output) + 1
        return subprocess.run([*words[:at], changed, *words[at:]],
                              capture_output=True).returncode == 0

    def run(self, path, folder, cpu, top=None):
        """Whether all its tests pass."""
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        env = {**os.environ, "TMPDIR": folder, "CK_FORK": self.fork, "top_srcdir": SOURCE,
               "top_builddir": top or os.getcwd()}
        env.pop("MAKEFLAGS", None)
        with subprocess.Popen([path], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, cwd=folder, env=env,
                              preexec_fn=limits(cpu), start_new_session=True) as process:
            try:
                status = process.wait(CLOCK_SECONDS)
            except subprocess.TimeoutExpired:
                status = 1
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        return status == 0

    def most(self):
        """Seconds of CPU time with a change."""
        return int(5 + 10 * self.cpu)

    def learn(self):
        """Its CPU time; with a process for each test, if it needs them."""
        for self.fork in ("no", "yes"):
            begin = resource.getrusage(resource.RUSAGE_CHILDREN)
            good = self.run(os.path.abspath(self.name), f"{SCRATCH}/first", CPU_MOST)
            end = resource.getrusage(resource.RUSAGE_CHILDREN)
            self.cpu = end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime
            if good and self.run(os.path.abspath(self.name), f"{SCRATCH}/first", self.most()):
                return
        sys.exit(f"mutants: {self.name} fails without a change")


def unit_programs(tops):
    """The link commands, as make prints them; also of the whole program."""
    programs = [p for top in tops for p in os.environ["UNIT_PROGRAMS"].split()
                if p.startswith(f"tests/unit/{top}/")] + [WHOLE]
    lines = subprocess.run([*shlex.split(MAKE), "-n", "V=1", "-W", "libsupport.a", "-W", "libbase.a",
                            *programs],
                           check=True, capture_output=True, text=True).stdout.splitlines()
    gold = ["-fuse-ld=gold"] if shutil.which("ld.gold") else []
    for line in lines:
        if "--mode=link" not in line:
            continue
        words = shlex.split(line)
        words = [re.sub(r"^(.*?)([^/]+)\.la$", r"\1.libs/\2.a", w)
                 for w in words[words.index("--mode=link") + 1:] if w != "-static"]
        name = words[words.index("-o") + 1]
        if name in programs:
            yield Program(name, [w for w in words if w != "ccache"] + gold + ["-Wl,-S"])


class Run:
    def __init__(self, programs):
        self.programs = [p for p in programs if p.name != WHOLE]
        self.whole = [p for p in programs if p.name == WHOLE]
        self.runs_whole = {p.name for p in self.programs
                           if p.name.startswith("tests/unit/src/") and p.runs_whole()}
        self.originals, self.has, self.kills = {}, {}, {}
        self.lock = threading.Lock()

    def compile(self, path, text, folder):
        """The object's bytes, or None."""
        place = f"{folder}/{os.path.basename(path)}"
        with open(place, "w") as f:
            f.write(text)
        words = [w for w in shlex.split(COMPILE) if w != "ccache"]
        done = subprocess.run([*words, "-g0", "-Wall", "-Wextra", "-Werror", "-iquote",
                               f"{SOURCE}/{os.path.dirname(path)}", f"-ffile-prefix-map={folder}=.",
                               "-c", place, "-o", place[:-1] + "o"],
                              capture_output=True)
        if done.returncode:
            return None
        with open(place[:-1] + "o", "rb") as f:
            return f.read()

    def programs_of(self, path, changed):
        """The programs of its folder that have the file."""
        if path not in self.has:
            symbols = subprocess.run(["nm", "-g", "--defined-only", changed], check=True,
                                     capture_output=True).stdout.split(b"\n")
            self.has[path] = [p for p in self.programs
                              if p.name.startswith(f"tests/unit/{path.split('/')[0]}/") and
                              (p.name in self.runs_whole or
                               p.has([line.split()[2] for line in symbols if line]))]
        return list(self.has[path])

    def top(self, changed, folder):
        """A build folder whose whole program has the mutant; None if it cannot have it."""
        top = f"{folder}/top"
        if not os.path.exists(top):
            os.mkdir(top)
            for name in os.listdir("."):
                if name != WHOLE:
                    os.symlink(os.path.abspath(name), f"{top}/{name}")
            self.whole[0].build(changed, f"{top}/{WHOLE}")
        return top if os.path.exists(f"{top}/{WHOLE}") else None

    def test(self, mutant, folder):
        changed = f"{folder}/{os.path.basename(mutant.path)[:-1]}o"
        mine = self.programs_of(mutant.path, changed)
        with self.lock:
            for p in mine:
                if p.cpu is None:
                    p.learn()
        mine.sort(key=lambda p: p.cpu / (1 + 20 * self.kills.get((mutant.path, p.name), 0)))
        for p in mine:
            path, top = f"{folder}/unit.test", None
            if p.name in self.runs_whole:
                top = self.top(changed, folder)
            if not p.build(changed, path):
                path = os.path.abspath(p.name)
                if not top:
                    continue
            if not p.run(path, f"{folder}/tmp", p.most(), top):
                self.kills[mutant.path, p.name] = self.kills.get((mutant.path, p.name), 0) + 1
                return p.name
        return None

    def one(self, mutant):
        """The mutant, if it counts."""
        folder = tempfile.mkdtemp(dir=SCRATCH)
        try:
            if mutant.path not in self.originals:
                with open(f"{SOURCE}/{mutant.path}") as f:
                    self.originals[mutant.path] = self.compile(mutant.path, f.read(), folder)
            original = self.originals[mutant.path]
            assert original, f"{mutant.path} does not compile"
            changed = self.compile(mutant.path, mutant.text, folder)
            if changed is None or changed == original:
                return None
            mutant.killer = self.test(mutant, folder)
            return mutant
        finally:
            shutil.rmtree(folder)


def counted(run, folder, count, known):
    """count mutants of a folder in their order, tested by several threads."""
    mutants, done = draw(folder, known), 0
    with ThreadPoolExecutor(int(JOBS)) as pool:
        while done < count:
            batch = list(itertools.islice(mutants, min(count - done, 2 * int(JOBS))))
            if not batch:
                return
            for mutant in filter(None, pool.map(run.one, batch)):
                done += 1
                yield mutant


def main():
    known = set(equivalents())
    everything = sorted({folder_of(f) for top in PRODUCT for f in files_below(top)})
    folders = FOLDER.split() or everything
    random.Random(SEED).shuffle(folders)
    run = Run(list(unit_programs(sorted({f.split("/")[0] for f in folders}))))
    rates = {}
    for i, folder in enumerate(folders):
        share = COUNT * (i + 1) // len(folders) - COUNT * i // len(folders)
        for mutant in counted(run, folder, share, known):
            rates.setdefault(folder, []).append(mutant.killer is not None)
            if os.environ.get("VERBOSE"):
                print(f"{mutant.killer}\n{mutant}\n", flush=True)
            elif mutant.killer is None:
                print(f"{mutant}\n", flush=True)
    total = [k for killed in rates.values() for k in killed]
    for folder, killed in [*sorted(rates.items()), ("all", total)]:
        print(f"{folder:32} {sum(killed):4} of {len(killed):4} killed "
              f"{100 * sum(killed) / max(1, len(killed)):4.0f} %")


try:
    main()
finally:
    shutil.rmtree(SCRATCH, ignore_errors=True)
