      *> Written by tools/cobol/copybooks.py; do not change it by hand.
      *> How far the work on a task is, for TP_PROGRESS.
       01 TP-PROG.
           05 FILLER PIC S9(9) COMP-5 VALUE 528.
      *> 0 to 100; -1: not said.
           05 TPP-PERCENT PIC S9(9) COMP-5 VALUE 0.
      *> A line for people; spaces: none.
           05 TPP-MESSAGE PIC X(520) VALUE SPACES.
