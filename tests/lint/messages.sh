#!/bin/sh
# SPDX-License-Identifier: MIT
# Every error and warning that a user can get follows one convention: a clause in plain words
# that begins with a small letter and has no full stop, "cannot X: reason; do Y".
# MESSAGES=1 lists them all.
. "${top_srcdir:-.}/tests/support/tap.sh"
cd "${top_srcdir:-.}" || exit 1
command -v python3 >/dev/null || tap_skip_all "no python3"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# "FILE:LINE	FUNCTION	TEXT": the literals of each call, where more than one has letters by " | ".
cat >"$work/list.py" <<'END'
import re, sys

calls = re.compile(r'\b(diag_warn|error_set|error_set_system|error_set_at|error_prefix|usage_error|argp_error)\s*\(')
# Text that a function prints itself, with or after the program's name.
begins = re.compile(r'\bmessage_(?:begin|print)_(?:error|warning)\s*\(|"(?:ptrace2ftf|ftfdump): ')
prints = re.compile(r'\b(?:fputs|fprintf|printable_printf|message_print_(?:error|warning))\s*\(')
name = re.compile(r'^(?:ptrace2ftf|ftfdump): ')
literal = re.compile(r'"((?:[^"\\]|\\.)*)"')
# A format macro of <inttypes.h> between two parts joins them, too.
between = re.compile(r'\s*(?:%?\s*PRI[a-zA-Z0-9]+\s*)?')
def calls_of(source):
    yield from calls.finditer(source)
    for begin in begins.finditer(source):
        end = source.find('\n}\n', begin.end())
        yield from prints.finditer(source, source.rfind(';', 0, begin.start()), end)

for path in sys.argv[1:]:
    source, seen = open(path).read(), set()
    for call in calls_of(source):
        if call.start() in seen:
            continue
        seen.add(call.start())
        at, depth, texts, last = call.end(), 1, [], -1
        while depth and at < len(source):
            found = literal.match(source, at)
            if found:
                if last >= 0 and between.fullmatch(source, last, at):
                    texts[-1] += ('u' if source[last:at].strip() else '') + found.group(1)
                else:
                    texts.append(found.group(1))
                last = at = found.end()
                continue
            depth += {'(': 1, ')': -1}.get(source[at], 0)
            at += 1
        line = source.count('\n', 0, call.start()) + 1
        kind = call.group(1) if call.lastindex else 'print'
        if kind == 'print': # these have their newline
            texts = [name.sub('', text.removesuffix('\\n')) for text in texts]
        if kind == 'diag_warn' and texts:
            print(f'{path}:{line}\tkind\t{texts.pop(0)}')
        for text in texts:
            print(f'{path}:{line}\t{kind}\t{text}')
END
find base decoder overlays reader src symbols -name '*.c' | LC_ALL=C sort | xargs python3 "$work/list.py" >"$work/all"
awk -F'\t' '$2 != "kind" && $3 ~ /[a-z][a-z] /' "$work/all" >"$work/texts"
[ -z "$MESSAGES" ] || sed 's/^/# /' "$work/all"

found() {
	[ "$(wc -l <"$work/texts")" -ge 250 ]
}
tap_check "the messages are found in the source" found
none() { # PATTERN: of no text
	! awk -F'\t' -v p="$1" '$3 ~ p' "$work/texts" | grep .
}
tap_check "none begins with a capital, but for names" none '^[A-Z][a-z]'
tap_check "none ends with a full stop, an exclamation mark or a newline" none '([.!]|\\n)$'
tap_check "what is impossible \"cannot\", in one word" \
	none "[Cc]an't|[Cc]ould not|[Uu]nable|[Ff]ailed to|can not|won't|doesn't|isn't"
tap_check "nouns are in place of \"what\" and \"one\"" \
	none '(^|[^a-z])([Ww]hat|that which|none of|are none|is none|cannot be,|cannot be and|one that|are others|made up|taken for|neither when|chooses nothing|nothing of it)([^a-z]|$)'
# The reason is after the colon, advice after the semicolon.
advice='allow|name|use|choose|leave out|write|give|see|keep|build|record|install|open|make|change|please|convert|show|run|remove'
tap_check "what to do comes after a semicolon" none ": ($advice) "
tap_check "an option \"needs\" others, or cannot be combined with them" \
	none '([^a-z](is|are) of (--|`|batches|one )|exclude each other)'
tap_check "values that a user wrote are in single quotes" none '\\"|`%'
one_place() {
	! grep -rnE '"ptrace2ftf: (warning|cannot|invalid|unknown)' base decoder overlays src symbols --include='*.c' | grep -v '^base/message.c'
}
tap_check "base/message.c alone writes what errors and warnings begin with" one_place
kinds() {
	! awk -F'\t' '$2 == "kind" && $3 !~ /^[a-z]+(-[a-z]+)*$/' "$work/all" | grep . &&
		[ "$(awk -F'\t' '$2 == "kind"' "$work/all" | wc -l)" -ge 70 ]
}
tap_check "kinds of warnings are words in small letters" kinds
tap_done
