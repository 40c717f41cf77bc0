-- SPDX-License-Identifier: MIT
-- For --args=full; the types are perf's (tools/perf/util/db-export.c).
INSERT INTO selected_events VALUES (1, 'branches');
INSERT INTO branch_types VALUES (0, 'no branch'), (1, 'unconditional jump'), (3, 'call'),
 (5, 'return'), (9, 'conditional jump'), (19, 'system call'), (21, 'return from system call'),
 (33, 'asynchronous branch'), (67, 'software interrupt'), (69, 'return from interrupt'),
 (99, 'hardware interrupt'), (129, 'transaction abort');
INSERT INTO branch_types SELECT id | 256, 'trace begin / ' || name FROM branch_types
 WHERE id > 1 UNION SELECT id | 512, name || ' / trace end' FROM branch_types WHERE id > 1;
INSERT INTO branch_types VALUES (257, 'trace begin'), (513, 'trace end');
CREATE VIEW samples_view AS SELECT a.id, a.time, a.cpu, t.pid, t.tid, m.comm AS command,
 e.name AS event, printf('%x', a.ip) AS ip_hex, s.name AS symbol, a.sym_offset,
 d.short_name AS dso_short_name, printf('%x', a.to_ip) AS to_ip_hex, s2.name AS to_symbol,
 a.to_sym_offset, d2.short_name AS to_dso_short_name, b.name AS branch_type_name, a.in_tx,
 a.insn_count, a.cyc_count, CASE WHEN a.cyc_count = 0 THEN 0.0
 ELSE round(a.insn_count * 1.0 / a.cyc_count, 2) END AS IPC, a.flags FROM samples a
 JOIN threads t ON t.id = thread_id JOIN comms m ON m.id = comm_id
 JOIN selected_events e ON e.id = evsel_id JOIN symbols s ON s.id = a.symbol_id
 JOIN symbols s2 ON s2.id = to_symbol_id JOIN dsos d ON d.id = a.dso_id
 JOIN dsos d2 ON d2.id = to_dso_id LEFT JOIN branch_types b ON b.id = branch_type;
