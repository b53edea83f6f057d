#!/bin/sh
# Writes DIR/employees.csv, the input of the example, and DIR/control.txt, what must come out of it. Needs
# nothing but awk. The numbers come from a generator of its own, so that they are the same on every machine.
set -eu

usage() {
  cat <<END
usage: make_employees.sh DIR [COUNT]
Writes DIR/employees.csv with COUNT (default 2000, at least 100) employees and DIR/control.txt.
END
}

case ${1:-} in
  "")
    usage >&2
    exit 2
    ;;
  --help | -h)
    usage
    exit 0
    ;;
esac

LC_ALL=C awk -v dir="$1" -v count="${2:-2000}" '
# Park and Miller: every product stays below 2^53, so that doubles hold it exactly.
function random(below) {
  seed = (seed * 16807) % 2147483647
  return seed % below
}

function csv(text) {
  if (text ~ /[",]/) {
    gsub(/"/, "\"\"", text)
    return "\"" text "\""
  }
  return text
}

# Every eighth name is Chinese or Japanese; some have characters of four bytes in UTF-8, quotes or commas.
function name_of(i) {
  if (i % 8 == 3) return family[1 + random(families)] personal[1 + random(personals)]
  if (i % 50 == 21) return "Robert \"Bob\" " last[1 + random(lasts)]
  if (i % 50 == 46) return last[1 + random(lasts)] ", " first[1 + random(firsts)] ", Jr."
  return first[1 + random(firsts)] " " last[1 + random(lasts)]
}

# What is special about an employee, for the handler to act on.
function note_of(i) {
  if (i == closed) return "account closed"
  if (i == left) return "left the company"
  if (i % 80 == 40) return "bank busy"
  return ""
}

BEGIN {
  if (count !~ /^[0-9]+$/ || count < 100 || count > 99999) {
    print "make_employees.sh: COUNT must be a number from 100 to 99999" > "/dev/stderr"
    exit 2
  }
  seed = 20261130
  run = "2026-11"
  firsts = split("Anna Björn Carla Dmitri Élise Fatima Grace Hugo Ines Jürgen Kateřina Liam Maria Noah Olga Paul", first, " ")
  lasts = split("Andersson Brown Castro Dvořák Evans Fischer García Hansen Ivanova Jones Kowalski López Müller Novák O'\''Brien Petit", last, " ")
  families = split("王 李 张 刘 陈 杨 黄 吴 欧阳 司马 𠮷田 𠀋木 𡈽屋", family, " ")
  personals = split("伟 芳 秀英 敏 静 丽 强 磊 洋 艳 𠮷 𪚥 𣇉 太郎", personal, " ")
  closed = int(count / 3)
  left = int(count * 2 / 3)
  if (closed % 80 == 40) closed++
  if (left % 80 == 40) left++
  csv_file = dir "/employees.csv"
  control_file = dir "/control.txt"

  print "handler,biz_key,dedup_key,run,employee,name,amount,note" > csv_file
  for (i = 1; i <= count; i++) {
    employee = sprintf("E%05d", i)
    cents = 120000 + random(900000)
    note = note_of(i)
    if (note == "bank busy") busy++
    if (note == "" || note == "bank busy") {
      due++
      total += cents
    }
    printf "pay,%s,%s/%s,%s,%s,%s,%d.%02d,%s\n", employee, run, employee, run, employee, csv(name_of(i)), \
      int(cents / 100), cents % 100, note > csv_file
  }
  printf "run=%s\nemployees=%d\ndue=%d\ntotal_cents=%.0f\nbusy=%d\nfailed=1\nskipped=1\n", \
    run, count, due, total, busy > control_file
  if (close(csv_file) != 0 || close(control_file) != 0) exit 1
}'
