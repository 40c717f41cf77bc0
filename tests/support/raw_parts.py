#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
Take a recording of perf apart, into what other tools have of a trace: raw_parts.py RECORDING DIR [VDSO]

DIR gets the AUX data of each buffer (raw.CPU.TID; -1: a buffer per thread, or per CPU), the options
of ptrace2ftf for it (maps, cpu; a word a line), LLDB's trace.json with paths of files below symfs/,
and the context switches of each CPU (switches.CPU). VDSO is the path of a copy of the vDSO, which they
have as any other file. The layouts are those of linux/perf_event.h and
of perf's util/event.h, util/auxtrace.h and util/intel-pt.h; LLDB's schema is in
lldb/source/Plugins/Trace/intel-pt/TraceIntelPTBundleLoader.cpp.
"""
import json
import re
import struct
import sys

PROT_EXEC = 4
recording, folder, vdso = (sys.argv[1:] + ['[vdso]'])[:3]
data = open(recording, 'rb').read()
attrs_at, attrs_size, begin, size = struct.unpack_from('<4Q', data, 24)
sample_type, = struct.unpack_from('<Q', data, attrs_at + 24)
buffers, maps, switches, names, clock = {}, [], {}, {}, None


def text(record, at):
    return record[at:].split(b'\0')[0].decode()


def trailer(record):
    """Returns pid, tid, time, cpu: ids without IDENTIFIER, which is the last word if it is there."""
    words = struct.unpack('<QQQ', record[len(record) - (32 if sample_type & 0x10000 else 24):][:24])
    return words[0] & 0xffffffff, words[0] >> 32, words[1], words[2] & 0xffffffff


at = begin
while at < begin + size:
    kind, misc, length = struct.unpack_from('<IHH', data, at)
    record = data[at + 8:at + length]
    at += length
    if kind == 70:  # AUXTRACE_INFO
        clock = struct.unpack_from('<3Q', record, 16)
    elif kind == 71:  # AUXTRACE
        bytes_, offset, _, _, tid, cpu = struct.unpack_from('<QQQIii', record)
        pieces = buffers.setdefault((cpu, tid if cpu == -1 else -1), {})
        pieces[offset] = data[at:at + bytes_]
        at += bytes_
    elif kind == 10 and struct.unpack_from('<I', record, 56)[0] & PROT_EXEC:  # MMAP2
        pid, _, address, length, offset = struct.unpack_from('<iiQQQ', record)
        build_id = record[36:36 + record[32]].hex() if misc & 1 << 14 else None
        path = text(record, 64)
        maps.append((pid, address, length, offset, vdso if path == '[vdso]' else path, build_id))
    elif kind == 3:  # COMM
        names[struct.unpack_from('<ii', record)] = text(record, 8)
    elif kind == 15:  # SWITCH_CPU_WIDE
        pid, tid, time, cpu = trailer(record)
        switches[cpu] = switches.get(cpu, b'') + struct.pack('<IHH', kind, misc, 32) + record[:8] + \
            struct.pack('<IIQ', pid, tid, time)

for key, pieces in buffers.items():
    with open(f'{folder}/raw.{key[0]}.{key[1]}', 'wb') as out:
        for offset in sorted(pieces):  # perf fills each piece up to a multiple of 8
            later = [other for other in pieces if other > offset]
            out.write(pieces[offset][:min(later) - offset if later else None])
for cpu, records in switches.items():
    open(f'{folder}/switches.{cpu}', 'wb').write(records)
with open(f'{folder}/maps', 'w') as out:
    for _, address, length, offset, path, _ in maps:
        out.write(f'--map={path}:{offset:x}@{address:x}-{address + length:x}\n')
cpuid = re.search(rb'GenuineIntel,(\d+),(\d+),(\d+)', data)
processor = [int(number) for number in cpuid.groups()] if cpuid else None
with open(f'{folder}/cpu', 'w') as out:
    out.write('--cpu={}/{}/{}\n'.format(*processor) if processor else '')

# LLDB has the address of a file's first segment, which begins with the file here.
modules = {}
for pid, address, length, offset, path, build_id in maps:
    module = {'systemPath': path, 'loadAddress': hex(address - offset)}
    if build_id:
        module['uuid'] = build_id.upper()
    if path.startswith('/'):
        modules.setdefault(pid, {}).setdefault(path, module)
per_cpu = [key for key in buffers if key[0] != -1]
bundle = {
    'type': 'intel-pt',
    'cpuInfo': dict(zip(('vendor', 'family', 'model', 'stepping'), ['GenuineIntel'] + processor))
    if processor else {'vendor': 'unknown', 'family': 0, 'model': 0, 'stepping': 0},
    'processes': [{
        'pid': pid, 'triple': 'x86_64-unknown-linux-gnu',
        'threads': [{'tid': tid} if per_cpu else {'tid': tid, 'iptTrace': f'raw.-1.{tid}'}
                    for owner, tid in sorted(names) if owner == pid],
        'modules': list(modules[pid].values())} for pid in modules],
    'tscPerfZeroConversion': {'timeMult': clock[1], 'timeShift': clock[0], 'timeZero': str(clock[2])},
}
if per_cpu:
    bundle['cpus'] = [{'id': cpu, 'iptTrace': f'raw.{cpu}.-1', 'contextSwitchTrace': f'switches.{cpu}'}
                      for cpu, _ in per_cpu]
json.dump(bundle, open(f'{folder}/trace.json', 'w'), indent=2)
