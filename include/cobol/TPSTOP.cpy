      *> Written by tools/cobol/copybooks.py; do not change it by hand.
      *> Whether the work on a task should end, for TP_STOP_CAUSE.
       01 TP-STOP.
           05 FILLER PIC S9(9) COMP-5 VALUE 528.
           05 TPW-CAUSE PIC S9(9) COMP-5 VALUE 0.
               88 TPW-NONE VALUE 0.
               88 TPW-LOST VALUE 1.
               88 TPW-CANCELLED VALUE 2.
               88 TPW-DEADLINE VALUE 3.
               88 TPW-TIME VALUE 4.
               88 TPW-WORKER VALUE 5.
      *> In words for people.
           05 TPW-TEXT PIC X(520) VALUE SPACES.
