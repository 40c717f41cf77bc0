-- SPDX-License-Identifier: MIT
-- Events that are not calls, if there are any, and perf's table of context switches.
-- A slice is one row, with the arguments of its begin and its end.
CREATE TABLE events (id INTEGER PRIMARY KEY, time, end_time, pid INTEGER, tid INTEGER, kind,
 event_id, track, category, name, args, end_args);
CREATE TABLE context_switches (id INTEGER PRIMARY KEY, machine_id, time, cpu INTEGER,
 thread_out_id, comm_out_id, thread_in_id, comm_in_id, flags);
CREATE VIEW context_switches_view AS SELECT s.id, s.machine_id, s.time, s.cpu,
 o.pid AS pid_out, o.tid AS tid_out, p.comm AS comm_out, i.pid AS pid_in, i.tid AS tid_in,
 q.comm AS comm_in, CASE s.flags WHEN 0 THEN 'in' WHEN 1 THEN 'out' WHEN 3 THEN 'out preempt'
 ELSE s.flags END AS flags FROM context_switches s JOIN threads o ON o.id = s.thread_out_id
 JOIN threads i ON i.id = s.thread_in_id JOIN comms p ON p.id = s.comm_out_id
 JOIN comms q ON q.id = s.comm_in_id;
