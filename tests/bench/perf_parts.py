# SPDX-License-Identifier: MIT
"""perf_parts.py PERF.DATA SYMFS OUT: the AUX buffer of a recording of one process, for decoders that
do not read perf.data: OUT.pt is the trace, OUT.addr and OUT.dump are the code for libxdc's tester, and
the options for libipt's ptxed are printed.  Fails if other buffers have over a tenth of the trace."""
import collections
import os
import struct
import sys

MMAP, MMAP2, AUXTRACE_INFO, AUXTRACE = 1, 10, 70, 71  # enum perf_event_type, and perf's event.h
PAGE = 4096


def records(data):
    at, size = struct.unpack_from('<2Q', data, 40)
    end = at + size if size else len(data)
    while at < end:
        kind, misc, length = struct.unpack_from('<IHH', data, at)
        yield kind, data[at + 8:at + length], at + length
        at += length + (struct.unpack_from('<Q', data, at + 8)[0] if kind == AUXTRACE else 0)


def main(path, symfs, out):
    data = open(path, 'rb').read()
    buffers = collections.defaultdict(bytes)
    options, pages = [], {}
    for kind, body, after in records(data):
        if kind == AUXTRACE:
            size, _, _, queue = struct.unpack_from('<QQQI', body)
            buffers[queue] += data[after:after + size]
        elif kind == AUXTRACE_INFO:
            words = struct.unpack_from('<16Q', body, 8)
            options += ['--cpuid-0x15.eax', words[13], '--cpuid-0x15.ebx', words[12], '--nom-freq', words[15]]
            attr_size, attrs, attrs_size = struct.unpack_from('<3Q', data, 16)
            heads = [struct.unpack_from('<IIQ', data, at) for at in range(attrs, attrs + attrs_size, attr_size)]
            config = next(config for kind, _, config in heads if kind == words[0])
            if words[11]:
                options += ['--mtc-freq', (config & words[11]) // (words[11] & -words[11])]
        elif kind in (MMAP, MMAP2):
            address, length, offset = struct.unpack_from('<3Q', body, 8)
            name = os.path.join(symfs, body[64 if kind == MMAP2 else 32:].split(b'\0')[0].decode().lstrip('/'))
            if not os.path.isfile(name):
                continue
            code = open(name, 'rb').read()[offset:offset + length]
            options += ['--raw', '%s:%#x-%#x:%#x' % (name, offset, offset + len(code), address)]
            for at in range(0, len(code), PAGE):
                pages[address + at] = code[at:at + PAGE].ljust(PAGE, b'\0')
    trace = max(buffers.values(), key=len)
    if len(trace) < 0.9 * sum(map(len, buffers.values())):
        sys.exit('the trace is in several buffers')
    with open(out + '.pt', 'wb') as file:
        file.write(trace)
    with open(out + '.addr', 'wb') as addresses, open(out + '.dump', 'wb') as dump:
        for address, page in sorted(pages.items()):
            addresses.write(struct.pack('<Q', address))
            dump.write(page)
    print(*options, '--pt', out + '.pt')


main(*sys.argv[1:])
