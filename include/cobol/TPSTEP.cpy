      *> Written by tools/cobol/copybooks.py; do not change it by hand.
      *> A step of the work on a task, for TP_STEP_FIND and
      *> TP_STEP_DONE.
       01 TP-STEP.
           05 FILLER PIC S9(9) COMP-5 VALUE 88.
      *> LENGTH OF the field for the result, which is an argument.
           05 TPS-RESULT-SIZE PIC S9(9) COMP-5 VALUE 0.
      *> TP_STEP_DONE: 0: without trailing blanks; else exactly.
           05 TPS-RESULT-LENGTH PIC S9(9) COMP-5 VALUE 0.
      *> TP_STEP_FIND: bytes of the result before blanks.
           05 TPS-FOUND-LENGTH PIC S9(9) COMP-5 VALUE 0.
           05 TPS-NAME PIC X(72) VALUE SPACES.
