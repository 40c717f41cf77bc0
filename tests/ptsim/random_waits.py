# SPDX-License-Identifier: MIT
"""Generates programs in which a thread waits for others, and counts in how many of them
`ptrace2ftf why` names the planted culprit.

Usage: random_waits.py SEED COUNT [FOLDER]

Each program has 3 to 6 threads with mutexes and queues (a mutex and condition variables).  A client
calls a function some hundred times.  That waits for a lock or an answer of a queue, of the thread
with the culprit, or of one that waits for it.  The culprit is a function that sometimes takes long,
while its thread holds the lock, or before it answers.  Other threads use locks and queues of their
own, and sometimes those of the wait, for a short time.  Libc is static or dynamic.

Prints a line for each program, with the chain to find, and sums:
	named	the last thread of the chain in the first cause is the culprit's, with the function
	any	the same in any cause
	thread	the last thread of the chain in the first cause is the culprit's
	wrong	the first cause has a thread in its chain that neither is part of the planted wait nor uses its
		lock or queue
	none	the first cause has no thread
FOLDER keeps the programs and recordings."""
import json
import os
import random
import shlex
import subprocess
import sys
import tempfile

BUILD = os.path.abspath(os.environ["top_builddir"])
PROGRAM = os.environ.get("PROGRAM", BUILD + "/ptrace2ftf")
PTSIM = BUILD + "/tests/ptsim/ptsim"
COMPILER = os.environ.get("CC", "cc")

VERBS = """apply balance build check clean collect compare copy count decode encode expand fetch fill find fix flush
format join label list load map mark merge move pack parse pick print probe prune rank read scan score send shift sort
split stage store sum swap tag trim update verify visit walk write""".split()
NOUNS = """block bucket buffer cell chunk column entry event field frame graph group header image index item key leaf
level line list map node order packet page pair part path plan point pool quota range record ring route row rule
segment shard shape slice state stats step table tag token tree view window word zone""".split()

PRELUDE = """
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define N __attribute__((noinline)) static
typedef struct request { struct request *next; bool done; unsigned value; pthread_cond_t answered; } request;
typedef struct queue { pthread_mutex_t lock; pthread_cond_t filled, answered; request *first, **last; bool closed; } queue;
static volatile bool done;
static volatile unsigned sink;
static __thread unsigned seed;
N unsigned chance(unsigned limit) { seed = seed * 1664525u + 1013904223u; return (seed >> 16) % limit; }
N void burn(unsigned rounds) { for (unsigned i = 0; i < rounds; i++) sink = sink * 31 + i; }
N void rest(unsigned us) { struct timespec t = { 0, us * 1000 }; nanosleep(&t, NULL); }
"""


class Source:
    """Writes a program; functions are written callees first."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.names = [verb + "_" + noun for verb in VERBS for noun in NOUNS]
        self.random.shuffle(self.names)
        self.text = [PRELUDE]
        self.globals = 0

    def name(self):
        return self.names.pop()

    def add(self, text):
        self.text.append(text)

    def function(self, body, parameters="unsigned n"):
        name = self.name()
        self.add("N void %s(%s)\n{\n\t(void)n;\n\t%s\n}" % (name, parameters, body.replace("; ", ";\n\t")))
        return name

    def number(self, kind):
        self.globals += 1
        return "%s%d" % (kind, self.globals)

    # Code of a time of about n instructions, as statements.

    def tree(self):
        """A recursion over small functions: calls every 15 instructions."""
        leaf = self.function("sink += n ^ sink << 3;")
        name = self.name()
        self.add("N void %s(unsigned n)\n{\n\tif (n < 30) {\n\t\t%s(n);\n\t\treturn;\n\t}\n\t%s(n / 2 - 5);\n\t%s(n / 2 - 5);\n\tsink++;\n}" %
                 (name, leaf, name, name))
        return name

    def loop(self):
        """A loop over small functions."""
        first = self.function("sink = sink * 31 + n;")
        second = self.function("%s(n ^ 5); sink ^= n;" % first)
        return self.function("for (unsigned i = 0; i < n; i += 25) %s(i);" % second)

    def chain(self):
        """Five functions, one in the other."""
        name = self.loop()
        for _ in range(self.random.randint(2, 5)):
            name = self.function("%s(n - n / 50); sink += n;" % name)
        return name

    def plain(self):
        return self.function("burn(n / 8);")

    def sorts(self):
        compare = self.name()
        self.add("static int %s(const void *a, const void *b)\n{\n\treturn *(const int *)a - *(const int *)b;\n}" % compare)
        return self.function("int v[256]; for (unsigned done_ = 0; done_ < n; done_ += 60000) { "
                             "unsigned c = n - done_ < 60000 ? (n - done_) / 240 : 250; "
                             "for (unsigned i = 0; i < c; i++) v[i] = (int)(i * 2654435761u >> 4); qsort(v, c, sizeof(*v), %s); sink += v[0]; }" % compare)

    def prints(self):
        return self.function('char t[64]; for (unsigned i = 0; i < n; i += 600) sink += (unsigned)snprintf(t, sizeof(t), "%u %s %x", i, "abc", n);')

    def allocates(self):
        return self.function("for (unsigned i = 0; i < n; i += 150) { void *volatile p = malloc(20 + i % 100); sink += p != NULL; free(p); }")

    def work(self):
        return self.random.choice([self.tree, self.loop, self.chain, self.plain, self.sorts, self.prints, self.allocates,
                                   self.tree, self.chain])()

    # Waits, as statements that use n.

    def mutex(self):
        lock = self.number("lock")
        self.add("static pthread_mutex_t %s = PTHREAD_MUTEX_INITIALIZER;" % lock)
        if self.random.random() < 0.3:  # own functions around it
            take, give = self.name(), self.name()
            self.add("N void %s(void)\n{\n\tpthread_mutex_lock(&%s);\n}" % (take, lock))
            self.add("N void %s(void)\n{\n\tpthread_mutex_unlock(&%s);\n}" % (give, lock))
            return "%s();" % take, "%s();" % give
        return "pthread_mutex_lock(&%s);" % lock, "pthread_mutex_unlock(&%s);" % lock

    def queue(self):
        """Returns the functions that ask and wait, take a request (NULL: the end), and answer it."""
        q = self.number("queue")
        ask, take, answer = self.name(), self.name(), self.name()
        late = self.random.random() < 0.5  # signals after the unlock
        many = self.random.random() < 0.5  # several threads may ask
        own = self.random.random() < 0.5  # a condition of the request
        self.add("static queue %s = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, &%s.first, false };" % (q, q))
        end = "pthread_cond_signal(&%s.filled);" % q
        self.add("N void %s(unsigned n)\n{\n\trequest r = { NULL, false, n, PTHREAD_COND_INITIALIZER };\n\tpthread_mutex_lock(&%s.lock);\n"
                 "\tif (%s.closed) r.done = true;\n\telse {\n\t\t*%s.last = &r;\n\t\t%s.last = &r.next;\n\t\t%s\n\t}\n"
                 "\twhile (!r.done) pthread_cond_wait(&%s.answered, &%s.lock);\n\tpthread_mutex_unlock(&%s.lock);\n}" %
                 (ask, q, q, q, q, end, "r" if own else q, q, q))
        self.add("N request *%s(void)\n{\n\trequest *r;\n\tpthread_mutex_lock(&%s.lock);\n"
                 "\twhile (!%s.first && !done) pthread_cond_wait(&%s.filled, &%s.lock);\n\tr = %s.first;\n"
                 "\t%s.closed = !r;\n\tif (r && !(%s.first = r->next)) %s.last = &%s.first;\n\tpthread_mutex_unlock(&%s.lock);\n\treturn r;\n}" %
                 (take, q, q, q, q, q, q, q, q, q, q))
        wake = "pthread_cond_%s(&%s.answered);" % ("broadcast" if many and not own else "signal", "r->" if own else q)
        wake = wake.replace("r->.", "r->")
        late = late and not own  # else the request may be gone
        unlock = "pthread_mutex_unlock(&%s.lock);" % q
        self.add("N void %s(request *r)\n{\n\tpthread_mutex_lock(&%s.lock);\n\tr->done = true;\n\t%s\n\t%s\n}" %
                 (answer, q, unlock if late else wake, wake if late else unlock))
        self.queues.append(q)
        self.asked += [ask + "(n);"] if many else []
        return ask, take, answer

    def wrap(self, statement):
        """Returns a call of up to three functions around a statement."""
        for _ in range(self.random.randint(0, 3)):
            before, after = self.work(), self.work()
            name = self.function("%s(%d); %s %s(%d);" % (before, self.random.randint(50, 400), statement,
                                                         after, self.random.randint(50, 400)))
            statement = "%s(n);" % name
        return statement

    def thread(self, body, pause, runs="!done"):
        """A thread that runs a statement again and again."""
        name = self.name()
        number = len(self.threads) + 2
        self.add("static void *%s(void *n_)\n{\n\tunsigned n = 1;\n\tseed = %d;\n\t(void)n;\n\twhile (%s) {\n\t\tn++;\n\t\t%s\n\t\t%s\n\t}\n\treturn n_;\n}" %
                 (name, number * 77, runs, body, pause))
        self.threads.append(name)
        return 1000 + number

    def server(self, work):
        """Returns the wait for a new thread that does some work before it answers."""
        ask, take, answer = self.queue()
        handle = self.wrap(work)
        tid = self.thread("request *r = %s();\n\t\tif (!r) break;\n\t\t%s\n\t\t%s(r);" % (take, handle, answer), "", "true")
        return "%s(n);" % ask, tid

    def holder(self, work):
        """Returns the wait for a new thread that does some work while it holds a lock."""
        take, give = self.mutex()
        hold = self.wrap(work)
        use = self.work()
        outer = self.function("%s %s %s" % (take, hold, give))
        tid = self.thread("%s(n);" % outer, "rest(%d + chance(%d));" % (self.random.randint(20, 60), self.random.randint(10, 80)))
        self.shared.append((take, give))
        return "%s %s(60); %s" % (take, use, give), tid

    def brief(self):
        """A lock of a decoy, for a short time; or nothing."""
        if not self.decoys or self.random.random() < 0.5:
            return ""
        take, give = self.random.choice(self.decoys)
        return "%s %s(%d); %s" % (take, self.work(), self.random.randint(30, 200), give)

    def decoy(self):
        kind = self.random.choice(["lock", "shared", "asks", "queue", "work"])
        pause = "rest(%d + chance(%d));" % (self.random.choice([5, 50, 200]), self.random.randint(10, 100))
        work = "%s(%d + chance(%d));" % (self.work(), self.random.randint(200, 1000), self.random.randint(500, 6000))
        if kind == "shared" and self.shared:  # the lock of the wait, for a short time
            take, give = self.random.choice(self.shared)
            self.users.add(1002 + len(self.threads))
            self.thread("%s %s %s(%d); %s" % (work, take, self.work(), self.random.randint(30, 200), give), pause)
        elif kind == "asks" and self.asked:  # the thread of the wait
            self.users.add(1002 + len(self.threads))
            self.thread("%s %s" % (work, self.random.choice(self.asked)), pause)
        elif kind == "queue" and self.room > 1:
            self.room -= 1
            ask, _ = self.server(work)
            self.thread("%s %s" % (ask, self.wrap(work)), pause)
        elif kind == "work":
            self.thread(self.wrap(work), pause)
        else:
            take, give = self.mutex()
            for _ in range(min(self.room, self.random.randint(1, 2))):
                self.thread("%s %s %s %s" % (self.wrap(work), take, self.wrap(work), give), pause)
                self.room -= 1
            self.decoys.append((take, give))
            return
        self.room -= 1


def generate(seed):
    """Returns the source, and what is to be found."""
    s = Source(seed)
    r = s.random
    s.users = set()
    s.threads, s.shared, s.queues, s.asked, s.decoys = [], [], [], [], []
    hops = r.randint(1, 2)
    s.room = r.randint(3, 6) - 1 - hops
    slow = s.work()
    culprit = s.name()
    length = r.choice([60000, 60000, 60000, 120000, 120000, 120000, 250000, 250000, 500000, 1000000])
    kinds = [r.choice([s.server, s.holder]) for _ in range(hops)]
    often = r.randint(10, 14) if s.holder in kinds else r.randint(40, 60)
    small = r.randint(50, 400)
    s.add("N void %s(unsigned n)\n{\n\t%s(n);\n\tsink += n;\n}" % (culprit, slow))
    if r.random() < 0.5:
        work = "%s(n %% %d ? %d : %d);" % (culprit, often, small, length)
    else:
        work = "if (n %% %d == 0) %s(%d); else %s(%d);" % (often, culprit, length, s.work(), small)
    tids = []
    if s.room > 1 and r.random() < 0.5:
        s.decoy()
    for kind in kinds:
        work, tid = kind("%s %s %s" % (s.brief(), work, s.brief()))
        tids.insert(0, tid)
    while s.room > 0:
        s.decoy()
    serve = s.name()
    before, after = s.work(), s.work()
    wait = s.wrap("%s %s %s" % (s.brief(), work, s.brief()))
    s.add("N void %s(unsigned n)\n{\n\t%s(100 + chance(300));\n\t%s\n\t%s(100 + chance(200));\n}" % (serve, before, wait, after))
    calls = r.randint(150, 200)
    count = len(s.threads)
    s.add("int main(void)\n{\n\tpthread_t threads[%d];\n\tseed = %d;" % (count, seed % 1000))
    for i, name in enumerate(s.threads):
        s.add("\tif (pthread_create(&threads[%d], NULL, %s, NULL) != 0) return 1;" % (i, name))
    s.add("\tfor (unsigned i = 0; i < %d; i++) {\n\t\t%s(i);\n\t\trest(5 + chance(30));\n\t}\n\tdone = true;" % (calls, serve))
    for q in s.queues:
        s.add("\tpthread_mutex_lock(&%s.lock);\n\tpthread_cond_broadcast(&%s.filled);\n\tpthread_mutex_unlock(&%s.lock);" % (q, q, q))
    s.add("\tfor (unsigned i = 0; i < %d; i++)\n\t\tpthread_join(threads[i], NULL);\n\treturn 0;\n}" % count)
    truth = {"symbol": serve, "culprit": culprit, "chain": tids, "static": r.random() < 0.5, "cpus": r.randint(1, 4),
             "kinds": [kind.__name__ for kind in reversed(kinds)], "threads": count + 1, "length": length, "calls": slow, "users": sorted(s.users)}
    return "\n".join(s.text) + "\n", truth


def record(folder, seed, truth):
    program = folder + "/w%d" % seed
    command = shlex.split(COMPILER) + ["-std=gnu11", "-g", "-O1", "-fno-optimize-sibling-calls", "-w", "-pthread", "-o", program, program + ".c"]
    subprocess.run(command + (["-static"] if truth["static"] else []), check=True)
    subprocess.run([PTSIM, "record", "--cyc", "--interrupts=0", "--cpus=%d" % truth["cpus"], "--seed=%d" % seed] +
                   shlex.split(os.environ.get("RECORD", "")) +
                   ["-o", program + ".data", "--", program], check=True, stdout=subprocess.DEVNULL)


def judge(folder, seed, truth):
    """Returns the words of the sums that hold for a program."""
    program = folder + "/w%d" % seed
    subprocess.run([PROGRAM, "why", "-q", "--symbol=" + truth["symbol"], "--json=" + program + ".json", "-o", program + ".txt",
                    program + ".data"], check=True)
    with open(program + ".json") as file:
        functions = json.load(file)["answer"]["functions"]
    words = set()
    for number, cluster in enumerate(functions[0]["clusters"] if functions else []):
        hops = cluster["waited_for"]
        last = hops and hops[-1]["tid"] == truth["chain"][-1]
        named = last and truth["culprit"] in hops[-1]["path"]
        if named:
            words.add("any")
        if number == 0:
            strange = not set(hop["tid"] for hop in hops) <= set(truth["chain"] + truth["users"])
            words |= {"wrong"} if strange else set()
            words |= {"named"} if named else set()
            words |= {"thread"} if last else set()
            words |= {"none"} if not hops else set()
    return words


def main():
    first, count = int(sys.argv[1]), int(sys.argv[2])
    kept = sys.argv[3] if len(sys.argv) > 3 else None
    sums = dict.fromkeys(["named", "any", "thread", "wrong", "none"], 0)
    with tempfile.TemporaryDirectory() as temporary:
        folder = kept or temporary
        for seed in range(1000 * first, 1000 * first + count):
            source, truth = generate(seed)
            if not os.path.exists(folder + "/w%d.data" % seed):
                with open(folder + "/w%d.c" % seed, "w") as file:
                    file.write(source)
                record(folder, seed, truth)
            words = judge(folder, seed, truth)
            for word in words:
                sums[word] += 1
            print(seed, ",".join(sorted(words)) or "-", truth, flush=True)
            if not kept:
                for end in ("", ".c", ".data", ".json", ".txt"):
                    os.remove(folder + "/w%d%s" % (seed, end))
    print(" ".join("%s %d" % pair for pair in sums.items()), "of", count)


main()
