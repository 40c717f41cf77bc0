-- SPDX-License-Identifier: MIT
-- The tables of perf's export-to-sqlite.py, with their rows of unknown items. Columns that the
-- viewer compares with texts have a type, others do not convert texts.
-- A database stores these texts: the build joins the lines without a newline.
PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
PRAGMA temp_store = FILE; BEGIN;
CREATE TABLE selected_events (id INTEGER PRIMARY KEY, name);
CREATE TABLE machines (id INTEGER PRIMARY KEY, pid INTEGER, root_dir);
CREATE TABLE threads (id INTEGER PRIMARY KEY, machine_id, process_id, pid INTEGER,
 tid INTEGER);
CREATE TABLE comms (id INTEGER PRIMARY KEY, comm, c_thread_id, c_time, exec_flag,
 has_calls);
CREATE TABLE comm_threads (id INTEGER PRIMARY KEY, comm_id, thread_id);
CREATE TABLE dsos (id INTEGER PRIMARY KEY, machine_id, short_name, long_name, build_id);
CREATE TABLE symbols (id INTEGER PRIMARY KEY, dso_id, sym_start, sym_end, binding, name);
CREATE TABLE branch_types (id INTEGER PRIMARY KEY, name);
CREATE TABLE samples (id INTEGER PRIMARY KEY, evsel_id, machine_id, thread_id, comm_id,
 dso_id, symbol_id, sym_offset, ip, time, cpu INTEGER, to_dso_id, to_symbol_id, to_sym_offset,
 to_ip, branch_type, in_tx BOOLEAN, call_path_id, insn_count, cyc_count, flags);
CREATE TABLE call_paths (id INTEGER PRIMARY KEY, parent_id, symbol_id, ip);
CREATE TABLE calls (id INTEGER PRIMARY KEY, thread_id, comm_id, call_path_id, call_time,
 return_time, branch_count, call_id, return_id, parent_call_path_id, flags, parent_id,
 insn_count, cyc_count);
INSERT INTO selected_events VALUES (0, 'unknown');
INSERT INTO machines VALUES (0, 0, 'unknown'), (1, -1, '');
INSERT INTO threads VALUES (0, 0, 0, -1, -1);
INSERT INTO comms VALUES (0, 'unknown', 0, 0, 0, NULL);
INSERT INTO dsos VALUES (0, 0, 'unknown', 'unknown', '');
INSERT INTO symbols VALUES (0, 0, 0, 0, 0, 'unknown');
INSERT INTO call_paths VALUES (0, 0, 0, 0), (1, 0, 0, 0);
INSERT INTO calls VALUES (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
CREATE VIEW calls_view AS SELECT c.id, c.thread_id, t.pid, t.tid, m.comm AS command,
 c.call_path_id, printf('%x', p.ip) AS ip, p.symbol_id, s.name AS symbol, c.call_time,
 c.return_time, c.return_time - c.call_time AS elapsed_time, c.branch_count, c.insn_count,
 c.cyc_count, CASE WHEN c.cyc_count = 0 THEN 0.0
 ELSE round(c.insn_count * 1.0 / c.cyc_count, 2) END AS IPC, c.call_id, c.return_id,
 CASE c.flags WHEN 0 THEN '' WHEN 1 THEN 'no call' WHEN 2 THEN 'no return'
 WHEN 3 THEN 'no call/return' WHEN 6 THEN 'jump' ELSE c.flags END AS flags, c.parent_call_path_id, c.parent_id
 FROM calls c JOIN call_paths p ON p.id = c.call_path_id JOIN symbols s ON s.id = p.symbol_id
 JOIN threads t ON t.id = c.thread_id JOIN comms m ON m.id = c.comm_id;
