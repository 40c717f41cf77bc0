-- SPDX-License-Identifier: MIT
-- After the last row: the indexes by which the viewer looks up children.
CREATE INDEX pcpid_idx ON calls (parent_call_path_id);
CREATE INDEX pid_idx ON calls (parent_id); COMMIT;
