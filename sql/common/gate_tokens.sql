-- Has any gate tokens?
SELECT name FROM tp_gate WHERE tokens > 0
