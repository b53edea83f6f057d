-- What a worker did of one handler in a minute. Its process writes each of these rows once, with the same figures when it asks again.
INSERT INTO tp_activity (minute, worker, handler,
       done, failed, gave_up, skipped, released, lost, wait_sum, wait_max, wait_0, wait_1, wait_2, wait_3, wait_4,
       wait_5, wait_6, wait_7, wait_8, wait_9, run_sum, run_max, run_0, run_1, run_2, run_3, run_4, run_5, run_6,
       run_7, run_8, run_9)
VALUES (:at, :id, :handler,
       :done, :failed, :gave_up, :skipped, :released, :lost, :wait_sum, :wait_max, :wait_0, :wait_1, :wait_2,
       :wait_3, :wait_4, :wait_5, :wait_6, :wait_7, :wait_8, :wait_9, :run_sum, :run_max, :run_0, :run_1, :run_2,
       :run_3, :run_4, :run_5, :run_6, :run_7, :run_8, :run_9)
{unless_there}
