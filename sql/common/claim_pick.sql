-- Ids of due tasks, without a lock: the first n of each lane, and of these the first n.
{lanes_first_n}
  {rows {lane_first_n}SELECT id, due_at FROM tp_pending {by_lane}
                 WHERE {lane} AND {due_since}
                 ORDER BY due_at, id {lane_first_n_end}}
{lanes_first_n_end}
