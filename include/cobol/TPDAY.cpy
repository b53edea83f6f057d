      *> Written by tools/cobol/copybooks.py; do not change it by hand.
      *> For TP_BUSINESS_DAY.
       01 TP-DAY.
           05 FILLER PIC S9(9) COMP-5 VALUE 120.
      *> 0: DATE itself; n: the n-th business day after it, or before.
           05 TPY-NUMBER PIC S9(9) COMP-5 VALUE 0.
           05 TPY-KIND PIC S9(9) COMP-5 VALUE 0.
               88 TPY-DAY-CLOSED VALUE 0.
               88 TPY-DAY-HALF VALUE 1.
               88 TPY-DAY-OPEN VALUE 2.
           05 FILLER PIC S9(9) COMP-5 VALUE 0.
      *> In ms since 1970 UTC, like all times.
           05 TPY-BEGINS-AT PIC S9(18) COMP-5 VALUE 0.
           05 TPY-CUT-OFF-AT PIC S9(18) COMP-5 VALUE 0.
           05 TPY-CALENDAR PIC X(72) VALUE SPACES.
      *> As 2026-12-24; spaces: today. The day that was found.
           05 TPY-DATE PIC X(16) VALUE SPACES.
