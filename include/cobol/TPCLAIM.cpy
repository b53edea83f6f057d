      *> Written by tools/cobol/copybooks.py; do not change it by hand.
      *> What to claim, for TP_CLAIM and TP_STEP; and when what failed
      *> is tried again, for TP_FAIL and TP_SETTLE. Keep it as it is
      *> between calls: after a failure it says what the call had asked
      *> for.
       01 TP-CLAIM.
           05 FILLER PIC S9(9) COMP-5 VALUE 1368.
           05 TPC-HANDLER-COUNT PIC S9(9) COMP-5 VALUE 0.
      *> 1: handlers in the order given, each before the next.
           05 TPC-IN-ORDER PIC S9(9) COMP-5 VALUE 0.
      *> What a claim means whose program died.
           05 TPC-ON-LAPSE PIC S9(9) COMP-5 VALUE 0.
               88 TPC-LAPSE-RETRY VALUE 0.
               88 TPC-LAPSE-FAIL VALUE 1.
               88 TPC-LAPSE-SKIP VALUE 2.
      *> 0: 1, 5 and 20 minutes; -1: no retry.
           05 TPC-DELAY-COUNT PIC S9(9) COMP-5 VALUE 0.
           05 FILLER PIC S9(9) COMP-5 VALUE 0.
      *> 0: a minute. Longer than the work takes.
           05 TPC-LEASE-MS PIC S9(18) COMP-5 VALUE 0.
      *> TP_STEP: how long it waits for a task at most.
           05 TPC-WAIT-MS PIC S9(18) COMP-5 VALUE 0.
      *> TP_STEP: pause between two looks; 0: 500.
           05 TPC-POLL-MS PIC S9(18) COMP-5 VALUE 0.
           05 TPC-DELAY-MS PIC S9(18) COMP-5 OCCURS 16 TIMES VALUE 0.
      *> The library's own.
           05 TPC-TOKEN PIC X(36) VALUE SPACES.
           05 FILLER PIC X(4) VALUE SPACES.
           05 TPC-HANDLER PIC X(72) OCCURS 16 TIMES VALUE SPACES.
