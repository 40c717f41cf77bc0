-- SPDX-License-Identifier: MIT
-- After the last row: the pairs, and the index by which the viewer looks up children.
INSERT INTO comm_threads (comm_id, thread_id) SELECT comm_id, thread_id FROM calls
 WHERE id UNION SELECT comm_id, thread_id FROM samples WHERE thread_id;
CREATE INDEX pcpid_idx ON calls (parent_call_path_id);
CREATE INDEX pid_idx ON calls (parent_id); COMMIT;
