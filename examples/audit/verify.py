#!/usr/bin/env python3
"""Checks an exported audit without taskpool: taskpool audit --all --json | verify.py [HASH]
Exit code 1: a row does not fit its hash or the row before it, or no row has the hash of the anchor HASH."""
import hashlib
import json
import sys

FIELDS = "seq act at who action subject detail changed ids_hash request_id why prev_hash".split()
anchor = sys.argv[1].split(":")[-1] if len(sys.argv) > 1 else None
seq, before, hashes, faults = 0, "0" * 64, {"0" * 64}, []
for line in sys.stdin:
    row = json.loads(line)
    text = b"taskpool audit 1\n"
    for name in FIELDS:
        value = "" if row[name] is None else str(row[name])
        text += f"{name} {len(value.encode())} {value}\n".encode()
    if row["seq"] != seq + 1 or row["prev_hash"] != before:
        faults.append(f"row {row['seq']} does not follow row {seq}")
    if hashlib.sha256(text).hexdigest() != row["hash"]:
        faults.append(f"row {row['seq']} does not fit its hash")
    seq, before = row["seq"], row["hash"]
    hashes.add(before)
if anchor and anchor not in hashes:
    faults.append("no row has the hash of the anchor")
print("\n".join(faults) or f"{seq} rows follow each other, the last is {seq}:{before}")
sys.exit(bool(faults))
